// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/status/gpu_holdings.h"

#include <algorithm>

#include "controller/queue/facts/capped.h"

namespace berth::queue {
namespace {

struct Counted {  // in one pool
  std::int64_t by_class = 0;
  std::int64_t by_pieces = 0;
};

// Returns GPUs by pool, in millionths. If a quota of the class `gpu` is charged, that charge
// includes all GPUs.
std::map<PoolId, std::int64_t> gpus_of(const std::vector<Charge>& charges,
                                       const FactsIndex& index) {
  const Catalog& catalog = index.catalog();
  std::map<PoolId, Counted> pools;
  for (const Charge& charge : charges) {
    const auto& [resource, pool] = catalog.key_parts(charge.key);
    Counted& counted = pools[pool];
    if (resource == Catalog::kClass)
      counted.by_class = capped_sum(counted.by_class, charge.total);
    else if (catalog.counts_as_gpu(resource))
      counted.by_pieces = capped_sum(
          counted.by_pieces, capped_product(charge.total, index.room().weight(pool, resource)));
  }
  std::map<PoolId, std::int64_t> gpus;
  for (const auto& [pool, counted] : pools)
    gpus[pool] = counted.by_class > 0 ? counted.by_class : counted.by_pieces;
  return gpus;
}

Time since_of(const Workload& workload) {
  const AdmissionFact* admission = admission_of(workload);
  return Time(std::chrono::microseconds(admission == nullptr ? workload.standing.created
                                                             : admission->since));
}

// Returns the namespace in a workload's name: "Job/team-a/train" → "team-a".
std::string namespace_in(std::string_view workload) {
  workload.remove_prefix(workload.find('/') + 1);
  return std::string(workload.substr(0, workload.find('/')));
}

}  // namespace

std::vector<Holding> gpu_holdings(const FactsIndex& index) {
  std::vector<Holding> holdings;
  for (const Workload* workload : index.charged()) {
    // Until the workloads ahead of it are gone, it holds quota and no GPUs.
    if (open_entry(*workload) != nullptr && !may_go_now(*workload)) continue;
    const std::vector<Charge>& charges = workload->standing.charges;
    const Catalog& catalog = index.catalog();
    const QueueId queue = catalog.holder_parts(charges.front().holder).first;
    for (const auto& [pool, gpus] : gpus_of(charges, index))
      if (gpus > 0)
        holdings.push_back({catalog.queue_name(queue), namespace_in(*workload->name), gpus,
                            since_of(*workload), catalog.pool_name(pool)});
  }
  return holdings;
}

}  // namespace berth::queue
