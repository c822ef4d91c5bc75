// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/unbound_pin.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/reasons.h"
#include "apis/base/time.h"
#include "controller/core/plural.h"
#include "controller/queue/index/facts_from.h"
#include "controller/queue/recall/unbound_pins.h"
#include "controller/queue/record/admission_record.h"

namespace berth {
namespace {

constexpr std::size_t kNodesNamed = 5;

// "2026-11-21T12:05:00Z", rounded up to a whole second.
std::string told_end(const Snapshot& snapshot, const queue::UnboundPins& pins) {
  return format_time(std::chrono::ceil<std::chrono::seconds>(pins.ends(snapshot)));
}

std::string fate_of(const Snapshot& snapshot, const Pod& pod, const queue::UnboundPins& pins) {
  if (pins.requeued != nullptr)
    return fmt::format("if it is bound to none by {}, Job {} is suspended whole, and waits again",
                       told_end(snapshot, pins), pins.requeued->meta.name);
  const auto is_it = [&](const Pod* evicted) { return evicted->meta.uid == pod.meta.uid; };
  if (std::ranges::any_of(pins.evicted, is_it))
    return fmt::format(
        "if it is bound to none by {}, it is evicted, and the one made anew waits again",
        told_end(snapshot, pins));
  return fmt::format("berth leaves it so: {}", pins.stays);
}

}  // namespace

void explain_pin(const Snapshot& snapshot, const Pod& pod, Explanation& out) {
  const auto record = queue::admission_on(pod);
  if (!record || record->nodes.empty()) return;
  const ClusterState& cluster = snapshot.cluster;
  if (cluster.gpu_queues().size() == 0) return;  // without queues the index is useless
  const queue::Workload* workload =
      cluster.view<queue::ClusterIndex>().facts().find(queue::workload_name(pod));
  const auto pins = workload == nullptr ? std::nullopt : queue::unbound_pins(cluster, *workload);
  if (!pins) return;
  const std::string told =
      fmt::format("queue {} has pinned it to {} {} since {}{}{}; {}", pins->queue,
                  word_for(static_cast<std::int64_t>(record->nodes.size()), "node", "nodes"),
                  list_first(record->nodes, kNodesNamed), format_time(pins->since),
                  pins->lost.empty() ? "" : ", and ", pins->lost, fate_of(snapshot, pod, *pins));
  if (pins->lost.empty() && !pins->is_blocked(snapshot)) return out.add("pin", told);
  out.reason = reasons::kPinBlocked;
  out.message = told;
  out.remedies.clear();  // the pin is not in its template
}

}  // namespace berth
