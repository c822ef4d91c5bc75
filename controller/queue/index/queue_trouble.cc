// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/index/queue_trouble.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "apis/base/reasons.h"
#include "controller/queue/facts/facts.h"

namespace berth::queue {
namespace {

std::vector<const GPUQueue*> oldest_first(const QueuesByName& queues) {
  std::vector<const GPUQueue*> all;
  for (const auto& [name, queue] : queues) all.push_back(queue);
  std::ranges::stable_sort(all, {}, [](const GPUQueue* q) { return q->meta.creation_timestamp; });
  return all;
}

// How each pool's GPUs are counted in a cohort: as the oldest queue with GPU quota there counts
// them.
class QuotaUnits {
 public:
  // Returns why the queue's quotas can't be added to those of older queues. Otherwise its way of
  // counting is the cohort's from now on.
  std::optional<Cause> join(const GPUQueue& queue) {
    std::map<std::string, bool> uses_class;  // by pool
    for (const QuotaSpec& quota : queue.spec.quotas)
      if (quota.resource == kGpuClass || is_gpu_resource(quota.resource))
        uses_class[quota.pool] |= quota.resource == kGpuClass;
    for (const auto& [pool, by_class] : uses_class) {
      const auto first = units_.find({queue.spec.cohort_name, pool});
      if (first == units_.end() || first->second.by_class == by_class) continue;
      return Cause{
          reasons::kMixedQuotaUnits,
          fmt::format("in pool {} GPUQueue {} of the same cohort {}, and this queue {}; write "
                      "both alike",
                      pool, first->second.queue, counts(!by_class), counts(by_class))};
    }
    if (!queue.spec.cohort_name.empty())
      for (const auto& [pool, by_class] : uses_class)
        units_.try_emplace({queue.spec.cohort_name, pool}, Unit{queue.meta.name, by_class});
    return std::nullopt;
  }

 private:
  static const char* counts(bool by_class) {
    return by_class ? "has quota of gpu" : "has quota of single resources alone";
  }
  struct Unit {
    std::string queue;
    bool by_class = false;
  };
  std::map<std::pair<std::string, std::string>, Unit> units_;  // by cohort and pool
};

}  // namespace

std::map<std::string, Cause, std::less<>> find_troubles(const QueuesByName& queues) {
  std::map<std::string, Cause, std::less<>> troubles;
  QuotaUnits units;
  for (const GPUQueue* queue : oldest_first(queues)) {
    if (const std::vector<Error> errors = check_rules(*queue); !errors.empty())
      troubles.emplace(queue->meta.name, Cause{reasons::kQueueInvalid, describe(errors.front())});
    else if (auto mixed = units.join(*queue))
      troubles.emplace(queue->meta.name, std::move(*mixed));
  }
  return troubles;
}

}  // namespace berth::queue
