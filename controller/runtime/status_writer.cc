// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/status_writer.h"

#include <utility>

#include "apis/names.h"
#include "controller/client/resource_path.h"

namespace berth {

StatusWriter::StatusWriter(Parts parts, std::chrono::nanoseconds period)
    : parts_(parts), loop_(parts_.client.loop()), period_(period) {}

std::optional<std::chrono::nanoseconds> StatusWriter::due_in(const StatusUpdate& status) {
  const MonotonicTime now = loop_.now();
  std::erase_if(sent_, [&](const auto& sent) { return now - sent.second >= period_; });
  const auto last = sent_.find(status.object);
  if (last == sent_.end() || status.urgent) return std::nullopt;
  return last->second + period_ - now;
}

Task<Verdict> StatusWriter::write(Origin origin, StatusUpdate status, KindInfo kind,
                                  std::chrono::milliseconds deadline) {
  sent_[status.object] = loop_.now();
  const ObjectKey key{status.object.namespace_, status.object.name};
  WriteOptions options;
  options.field_manager = names::kManagerStatus;
  ApiRequest request = status_merge_patch_request(kind, key, status.body, options);
  CallOptions call(Lane::kWrite, origin.stop, deadline);
  Result<Reply> reply = co_await parts_.client.send(std::move(request), std::move(call));
  if (reply.has_value()) {
    parts_.barrier.expect(origin.key, status.object, reply->resource_version,
                          WriteBarrier::Awaits::kVersion);
    parts_.metrics.on_write("status", to_string(Fate::kDone));
    co_return Verdict(Fate::kDone, Error());
  }
  const Fate fate = fate_of(reply.error());
  parts_.metrics.on_write("status", to_string(fate));
  parts_.log.write(level_of(fate), "status not written",
                   {{"key", origin.key},
                    {"reconcile_id", origin.id},
                    {"object", status.object.str()},
                    {"error", describe(reply.error())}});
  sent_.erase(status.object);
  co_return Verdict(fate, std::move(reply).error());
}

}  // namespace berth
