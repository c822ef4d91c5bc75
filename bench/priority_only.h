// SPDX-License-Identifier: Apache-2.0
// PriorityOnly: who goes for whom as kube-scheduler has it, for comparison: node by node, pods of
// the lowest priority first and of those the youngest, whosever quota it is, whatever gang they are
// of and whenever their work was saved.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace berth {

struct BoundPod {
  std::string workload;
  std::string node;
  std::int64_t gpus = 0;
  std::int32_t priority = 0;
  std::int64_t since = 0;
};

struct Nomination {
  std::vector<std::string> nodes;  // of its pods
  std::set<std::string> victims;   // workloads: a gang that loses a pod begins anew
};

// For so many pods of so many GPUs each, where that many are free on the nodes; nothing if lower
// priorities alone don't make room for all of them.
std::optional<Nomination> nominate(std::int32_t priority, std::int64_t pods, std::int64_t gpus,
                                   std::map<std::string, std::int64_t> free,
                                   const std::vector<BoundPod>& bound);

}  // namespace berth
