// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/status_writer.h"

#include <algorithm>
#include <utility>

#include "apis/base/names.h"
#include "controller/client/resource_path.h"

namespace berth {

StatusWriter::StatusWriter(Parts parts, Options options)
    : parts_(parts), loop_(parts_.client.loop()), options_(options) {}

// Takes the object's turn once, and keeps it however often the key is reconciled meanwhile.
std::optional<std::chrono::nanoseconds> StatusWriter::due_in(const StatusUpdate& status) {
  if (status.urgent) return std::nullopt;
  forget_old();
  const MonotonicTime now = loop_.now();
  Turn& turn = turns_[status.object];
  if (!turn.due) {
    const MonotonicTime earliest = turn.sent ? std::max(now, *turn.sent + options_.period) : now;
    turn.due = earliest + options_.pace.take(earliest);
  }
  if (*turn.due <= now) return std::nullopt;
  return *turn.due - now;
}

// Drops turns in the past: their objects have come back for them, or no longer need them.
void StatusWriter::forget_old() {
  const MonotonicTime now = loop_.now();
  if (now - swept_at_ < options_.period) return;
  swept_at_ = now;
  std::erase_if(turns_, [&](const auto& entry) {
    const Turn& turn = entry.second;
    return now - std::max(turn.sent.value_or(MonotonicTime(0)),
                          turn.due.value_or(MonotonicTime(0))) >=
           options_.period;
  });
}

Task<Verdict> StatusWriter::write(Origin origin, StatusUpdate status, KindInfo kind,
                                  std::chrono::milliseconds deadline) {
  turns_[status.object] = {.sent = loop_.now(), .due = std::nullopt};
  const ObjectKey key{status.object.namespace_, status.object.name};
  WriteOptions options;
  options.field_manager = names::kManagerStatus;
  ApiRequest request = status_merge_patch_request(kind, key, status.body, options);
  CallOptions call(Lane::kWrite, origin.stop, deadline);
  call.traffic = Traffic::kReporting;
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
  turns_.erase(status.object);
  co_return Verdict(fate, std::move(reply).error());
}

}  // namespace berth
