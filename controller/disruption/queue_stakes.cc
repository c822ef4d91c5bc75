// SPDX-License-Identifier: Apache-2.0
#include "controller/disruption/queue_stakes.h"

#include "controller/queue/index/cluster_index.h"
#include "controller/queue/record/admission_ledger.h"

namespace berth {
namespace {

using Stakes = std::map<std::pair<std::string, std::string>, QueueStake>;

void add_nominal(const queue::FactsIndex& facts, Stakes& stakes) {
  for (const auto& [name, queue] : facts.queues())
    for (const queue::QuotaFact& quota : queue.quotas)
      if (quota.nominal > 0)
        stakes.try_emplace({quota.resource, quota.pool},
                           QueueStake{quota.resource, quota.pool, name, true});
}

// Leaving workloads need nothing any more.
void add_admitted(const queue::FactsIndex& facts, Stakes& stakes) {
  const queue::Catalog& catalog = facts.catalog();
  for (const auto& [holder, by_key] : facts.usage().by_holder())
    for (const auto& [key, used] : by_key) {
      if (used.total <= used.leaving) continue;
      const auto& [resource, pool] = catalog.key_parts(key);
      const std::string& name = catalog.resource_name(resource);
      const std::string& in = catalog.pool_name(pool);
      const std::string& by = catalog.queue_name(catalog.holder_parts(holder).first);
      stakes.try_emplace({name, in}, QueueStake{name, in, by, false});
    }
}

}  // namespace

std::vector<QueueStake> queue_stakes(const Snapshot& snapshot) {
  // A cluster without queues does not need the index. Pods that a deleted queue admitted
  // are bound already.
  if (snapshot.cluster.gpu_queues().size() == 0) return {};
  const queue::FactsIndex& facts = snapshot.cluster.view<queue::ClusterIndex>().facts();
  Stakes stakes;
  add_nominal(facts, stakes);
  add_admitted(facts, stakes);
  std::vector<QueueStake> out;
  for (auto& [key, stake] : stakes) out.push_back(std::move(stake));
  return out;
}

std::map<std::string, std::string, std::less<>> admissions_in_flight(const Snapshot& snapshot) {
  std::map<std::string, std::string, std::less<>> by_node;
  for (const auto& [uid, entry] : queue::read_admissions(snapshot).entries) {
    if (!entry.refused.empty()) continue;  // withdrawn
    for (const std::string& node : entry.admission.nodes) by_node.try_emplace(node, entry.workload);
  }
  return by_node;
}

}  // namespace berth
