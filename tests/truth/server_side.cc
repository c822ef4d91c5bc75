// SPDX-License-Identifier: Apache-2.0
#include "tests/truth/server_side.h"

#include <fmt/format.h>

#include <stdexcept>

#include "tests/truth/watch_events.h"

namespace berth::truth {

Answer ServerSide::answer(const Operation& operation, const Request& request) {
  if (operation.verb == Verb::kWatch) return watched(request);
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
      [&events](const std::string& type, const test::Object& object) {
        events.push_back({{"type", type}, {"object", object.value()}});
        return !ends_watch(events.back());
      },
      std::chrono::milliseconds(10000));
  return {code, std::move(events)};
}

}  // namespace berth::truth
