// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/displaced_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace berth {

std::vector<DisplacedWork> displaced_by(const queue::Admission& admission,
                                        const queue::FactsIndex& facts) {
  const queue::Catalog& catalog = facts.catalog();
  std::vector<DisplacedWork> displaced;
  for (const queue::Ahead& ahead : admission.ahead)
    if (ahead.evicted)
      displaced.push_back({*ahead.workload->name,
                           catalog.queue_name(ahead.workload->standing.queue),
                           ahead.lost_gpu_seconds});
  return displaced;
}

std::optional<Time> ended_by(const queue::Workload& workload, Time now) {
  if (!workload.job || workload.job->lasts <= 0) return std::nullopt;
  return std::chrono::ceil<std::chrono::seconds>(now +
                                                 std::chrono::microseconds(workload.job->lasts));
}

std::string describe(const DisplacedWork& displaced) {
  const std::string who =
      fmt::format("displaces {} of queue {}", displaced.workload, displaced.queue);
  if (displaced.lost_gpu_seconds == 0) return who + ", which loses no work";
  return fmt::format("{}, which loses {} of GPU time that it has not saved", who,
                     format_duration_short(std::chrono::seconds(displaced.lost_gpu_seconds)));
}

std::string when_room_is_back(const std::optional<Time>& ended) {
  if (ended)
    return fmt::format("what it takes from others is free again at {}, or sooner",
                       format_time(*ended));
  return "nobody can say when what it takes from others is free again: it has no "
         "activeDeadlineSeconds";
}

}  // namespace berth
