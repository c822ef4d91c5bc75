// SPDX-License-Identifier: Apache-2.0
#include "tests/truth/server_side.h"

#include <fmt/format.h>

#include <stdexcept>

#include "tests/truth/watch_events.h"

namespace berth::truth {

Answer ServerSide::answer(const Operation& operation, const Request& request) {
  if (operation.verb == Verb::kWatch) return watched(request);
  if (operation.verb == Verb::kList) catch_up(request);
  const test::Reply reply =
      kube_.send(request.method, request.target, request.body, request.content_type);
  if (reply.status == 0)
    throw std::runtime_error(fmt::format("{} {}: {}", request.method, request.target, reply.error));
  return {reply.status, reply.body.value()};
}

Answer ServerSide::watched(const Request& request) {
  nlohmann::json events = nlohmann::json::array();
  const int code = kube_.watch(
      request.target,
      [&](const std::string& type, const test::Object& object) {
        events.push_back({{"type", type}, {"object", object.value()}});
        return !ends_watch(request.target, events.back());
      },
      std::chrono::milliseconds(10000));
  if (code != 200) return {code, kube_.send(request.method, request.target).body.value()};
  return {code, std::move(events)};
}

// A list of any version not older than one is answered from the server's cache, which may be
// behind; one by quorum waits for it.
void ServerSide::catch_up(const Request& request) {
  if (request.target.find("resourceVersion=") == std::string::npos) return;
  const std::string path = request.target.substr(0, request.target.find('?'));
  kube_.send("GET", path + "?labelSelector=none-has-it");
}

}  // namespace berth::truth
