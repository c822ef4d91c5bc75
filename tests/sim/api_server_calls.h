// SPDX-License-Identifier: Apache-2.0
// A store and its API server, called as berth calls them: text in, text out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "controller/sim/server/api_server.h"
#include "controller/sim/server/watch.h"

namespace berth::sim {

inline constexpr char kNodes[] = "/api/v1/nodes";
inline constexpr char kPods[] = "/api/v1/namespaces/default/pods";
inline constexpr char kPod[] = "/api/v1/namespaces/default/pods/p";

struct ServerCalls {
  Store store;
  VirtualClock clock;
  ApiServer server{store, clock, Random(1)};

  ApiReply send(const std::string& method, const std::string& target, const std::string& body = "",
                const std::string& type = "application/json", const std::string& user = "berth") {
    return server.call({user, method, target, type, body});
  }
  ApiReply get(const std::string& target) { return send("GET", target); }
  ApiReply post(const std::string& target, const std::string& body) {
    return send("POST", target, body);
  }
  ApiReply json_patch(const std::string& target, const std::string& body) {
    return send("PATCH", target, body, "application/json-patch+json");
  }
  ApiReply merge_patch(const std::string& target, const std::string& body) {
    return send("PATCH", target, body, "application/merge-patch+json");
  }
  ApiReply apply(const std::string& target, const std::string& body) {
    return send("PATCH", target, body, "application/apply-patch+yaml");
  }
  ApiReply remove(const std::string& target, const std::string& body = "") {
    return send("DELETE", target, body);
  }
};

// The frames of one watch.
struct Watched {
  std::vector<std::string> frames;
  bool ended = false;
  ApiReply reply;
  std::shared_ptr<Watch> watch;

  Watched(ServerCalls& calls, const std::string& target) {
    WatchSink sink;
    sink.on_frame = [this](std::string frame, std::int64_t, const Change*) {
      frames.push_back(std::move(frame));
    };
    sink.on_end = [this] { ended = true; };
    watch = calls.server.watch({"berth", "GET", target, "", ""}, std::move(sink), reply);
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  // The frames' types and names: "ADDED n1, BOOKMARK ".
  std::string summary() const;
};

// The text of a member that occurs once in a JSON text: member(reply, "resourceVersion").
std::string member(const std::string& json, const std::string& name);

}  // namespace berth::sim
