// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/recall/yielding.h"

#include <algorithm>

#include "controller/queue/index/cluster_index.h"
#include "controller/queue/index/named.h"

namespace berth::queue {

std::string remaker_uid(const ClusterState& cluster, const Workload& workload) {
  if (workload.job) return workload.job->uid;
  for (const berth::Pod* pod : pods_of(cluster, cluster.view<ClusterIndex>(), *workload.name))
    if (const OwnerReference* owner = pod->meta.controller()) return owner->uid.str();
  return "";
}

bool is_there(const FactsIndex& facts, const Taker& taker) {
  const Workload* workload = facts.find(taker.workload);
  if (workload == nullptr) return false;
  if (workload->job) return workload->job->uid == taker.uid && workload->job->wanted > 0;
  return workload->pods && std::ranges::any_of(workload->pods->all, [&](const Pod* pod) {
           return *pod->uid == taker.uid || (pod->admitted && pod->admitted->uid == taker.uid) ||
                  taker.workload.starts_with("PodGroup/");
         });
}

}  // namespace berth::queue
