// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/facts/leaving.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>

#include "controller/core/seeded_bugs.h"

namespace berth::queue {
namespace {

bool is_past(std::int64_t hangs_from, std::int64_t now) {
  return hangs_from != 0 && hangs_from <= now && !seeded(SeededBug::kAwaitAllLeaving);
}

}  // namespace

bool hangs(const Workload& workload, std::int64_t now) {
  return workload.standing.leaves && is_past(workload.standing.hangs_from, now);
}

bool hangs(const Pod& pod, std::int64_t now) {
  return pod.state == PodState::kLeaving && is_past(pod.hangs_from, now);
}

void sort_by_end(std::vector<const Workload*>& leaving) {
  std::ranges::sort(leaving, {}, [](const Workload* of) {
    const std::int64_t from = of->standing.hangs_from;
    return std::tuple(from == 0 ? std::numeric_limits<std::int64_t>::max() : from,
                      std::string_view(*of->name));
  });
}

}  // namespace berth::queue
