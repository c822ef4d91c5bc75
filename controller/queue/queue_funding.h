// SPDX-License-Identifier: Apache-2.0
// QueueFunding: whether the nodes offer what the nominal quotas of all queues promise. Nothing is
// taken from a queue for it: room decides who starts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/core/cause.h"
#include "controller/queue/cluster_index.h"

namespace berth::queue {

class QueueFunding {
 public:
  explicit QueueFunding(const ClusterIndex& index);

  // Of the queue's own quotas the first that is promised beyond what there is; nothing if all can
  // be kept.
  std::optional<Cause> shortfall(const GPUQueue& queue) const;

 private:
  std::optional<Cause> no_such_pool(const std::string& pool) const;

  const ClusterIndex& index_;
  std::vector<std::string> pools_;
  // Over all queues, by resource and pool.
  std::map<std::pair<std::string, std::string>, std::int64_t> promised_;
};

}  // namespace berth::queue
