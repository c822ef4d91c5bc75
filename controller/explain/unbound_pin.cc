// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/unbound_pin.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/reasons.h"
#include "apis/time.h"
#include "controller/core/plural.h"
#include "controller/queue/admission_record.h"
#include "controller/queue/facts_from.h"
#include "controller/queue/unbound_pins.h"

namespace berth {
namespace {

constexpr std::size_t kNodesNamed = 5;

std::string fate_of(const Pod& pod, const queue::UnboundPins& pins) {
  const std::string by = format_time(pins.until);
  if (pins.requeued != nullptr)
    return fmt::format("if it is bound to none by {}, Job {} is suspended whole, and waits again",
                       by, pins.requeued->meta.name);
  if (std::ranges::find(pins.evicted, &pod) != pins.evicted.end())
    return fmt::format(
        "if it is bound to none by {}, it is evicted, and the one made anew waits again", by);
  return fmt::format("berth leaves it so: {}", pins.stays);
}

}  // namespace

void explain_pin(const ClusterState& cluster, const Pod& pod, Explanation& out) {
  const auto record = queue::admission_on(pod.meta);
  if (!record || record->nodes.empty()) return;
  const queue::Workload* workload =
      cluster.view<queue::ClusterIndex>().facts().find(queue::workload_name(pod));
  const auto pins = workload == nullptr ? std::nullopt : queue::unbound_pins(cluster, *workload);
  if (!pins) return;
  const std::string told =
      fmt::format("queue {} has pinned it to {} {} since {}{}{}; {}", pins->queue,
                  word_for(static_cast<std::int64_t>(record->nodes.size()), "node", "nodes"),
                  list_first(record->nodes, kNodesNamed), format_time(pins->since),
                  pins->lost.empty() ? "" : ", and ", pins->lost, fate_of(pod, *pins));
  if (pins->lost.empty() && pins->stays.empty()) return out.add("pin", told);
  out.reason = reasons::kPinBlocked;
  out.message = told;
  out.remedies.clear();  // the pin is not in its template
}

}  // namespace berth
