// SPDX-License-Identifier: Apache-2.0
// QueueFunding: whether the nodes offer what the nominal quotas of all queues promise. If not, no
// queue loses quota: free capacity decides which workloads start.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/core/cause.h"
#include "controller/queue/index/cluster_index.h"

namespace berth::queue {

class QueueFunding {
 public:
  explicit QueueFunding(const ClusterIndex& index);

  // Returns the first of the queue's quotas for which the promises exceed what the nodes offer;
  // nothing if all can be kept.
  std::optional<Cause> shortfall(const GPUQueue& queue) const;

 private:
  std::optional<Cause> no_such_pool(const std::string& pool) const;

  const ClusterIndex& index_;
  std::vector<std::string> pools_;
  // By resource and pool, the sum over all queues.
  std::map<std::pair<std::string, std::string>, std::int64_t> promised_;
};

}  // namespace berth::queue
