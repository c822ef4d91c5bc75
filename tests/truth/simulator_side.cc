// SPDX-License-Identifier: Apache-2.0
#include "tests/truth/simulator_side.h"

#include "tests/truth/watch_events.h"

namespace berth::truth {

using nlohmann::json;

Answer SimulatorSide::answer(const Operation& operation, const Request& request) {
  clock_.move_to(clock_.now() + std::chrono::milliseconds(300));
  const sim::ApiCall call{"script", request.method, request.target, request.content_type,
                          request.body};
  if (operation.verb == Verb::kWatch) return watched(call);
  const sim::ApiReply reply = server_.call(call);
  return {reply.code, json::parse(reply.body, nullptr, false)};
}

// A watch replays its events within the call.
Answer SimulatorSide::watched(const sim::ApiCall& call) {
  json events = json::array();
  bool ended = false;
  sim::WatchSink sink;
  sink.on_frame = [&](const std::string& frame, std::int64_t, const sim::Change*) {
    if (ended) return;
    events.push_back(json::parse(frame, nullptr, false));
    ended = ends_watch(call.target, events.back());
  };
  sink.on_end = [] {};
  sim::ApiReply reply;
  const auto watch = server_.watch(call, std::move(sink), reply);
  if (watch == nullptr) return {reply.code, json::parse(reply.body, nullptr, false)};
  return {200, std::move(events)};
}

}  // namespace berth::truth
