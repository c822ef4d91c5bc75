// SPDX-License-Identifier: Apache-2.0
// ApiServer: a simulated kube-apiserver on top of a Store. It models documented and tested
// behaviour, and the truth check compares it with the real one (tests/truth,
// docs/simulation-truth.md). If they differ, this one is wrong.
//
// call() takes HTTP for berth, so that tests include decoding. write() does the same for actors of
// the simulation, without the text. Both answer at once; the wire (wire.h) adds the time on the
// network.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/sim/world/random.h"
#include "controller/sim/world/store.h"
#include "controller/sim/world/virtual_clock.h"

namespace berth::sim {

struct ApiCall {
  std::string user;    // "berth-0", "kubelet"; replaces authentication
  std::string method;  // GET, POST, PUT, PATCH, DELETE
  std::string target;  // path and query, escaped
  std::string content_type;
  std::string body;
};

struct ApiReply {
  int code = 200;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  // besides content-type: Retry-After, …
  bool ok() const { return code >= 200 && code < 300; }
};

enum class WriteVerb { kCreate, kUpdate, kJsonPatch, kMergePatch, kApply, kDelete, kEvict };

struct WriteRequest {
  WriteVerb verb;
  StoreKey key;               // for a create the name may be empty: the body has it
  std::string subresource;    // "", "status"; an eviction needs none
  ObjectPtr body;             // object, patch, DeleteOptions or Eviction; null: none
  bool escaped_as_go = true;  // of the body's text: see apply_json_patch()
  std::string field_manager;
  bool force = false;    // for an apply
  bool dry_run = false;  // answers as usual, but stores nothing
  std::string user;
};

struct WriteReply {
  int code = 200;
  ObjectPtr body;         // the object after the write, or a Status
  int retry_after_s = 0;  // 0: no such header
  bool ok() const { return code >= 200 && code < 300; }
};

// One open watch. The server passes on frames at once; the owner decides when they arrive.
// Destroying the watch closes it.
class Watch;
struct WatchSink {
  // A frame's bytes with its revision and the change in it; null for a bookmark or an error. After
  // an ERROR frame the stream ends.
  std::function<void(std::string frame, std::int64_t revision, const Change* change)> on_frame;
  std::function<void()> on_end;  // the server ends the stream
};

class ApiServer {
 public:
  ApiServer(Store& store, const VirtualClock& clock, Random random);
  ~ApiServer();

  // All requests but watches: reads, writes, discovery. Never throws; malformed requests get a 400
  // or 404.
  ApiReply call(const ApiCall& call);
  static bool is_watch(const ApiCall& call);
  // If the server refuses the watch, returns null and puts the refusal into `reply`. It passes
  // frames that are due at once (initial events, history since the resourceVersion) during the
  // call. Bookmarks come from beat().
  std::shared_ptr<Watch> watch(const ApiCall& call, WatchSink sink, ApiReply& reply);

  WriteReply write(const WriteRequest& request);

  // Like write(), but asks the webhooks. It holds the write meanwhile and calls `done` later.
  // Without webhooks it calls `done` at once.
  using Done = std::function<void(const WriteReply&)>;
  void submit(const WriteRequest& request, const Done& done);
  // The object that webhooks see of a creation: with its defaults and the additions that admission
  // makes in every cluster.
  WriteReply draft(const WriteRequest& request);
  // Takes over a write and answers it later, or returns false. Empty: there are no webhooks.
  std::function<bool(const WriteRequest&, const Done&)> admission;

  // The cluster's ValidatingAdmissionPolicies: throws a Refusal for a forbidden creation or update
  // that is otherwise valid. `live` is null for a creation. Empty: there are no policies.
  using Policy = std::function<void(const std::string& user, const StoreKey& key,
                                    const nlohmann::json* live, const nlohmann::json& next)>;
  Policy policy;

  // Call it once per simulated minute: sends bookmarks to watches that asked for them.
  void beat();

  Store& store() { return store_; }

 private:
  Store& store_;
  const VirtualClock& clock_;
  Random random_;
  std::vector<std::weak_ptr<Watch>> watches_;
};

}  // namespace berth::sim
