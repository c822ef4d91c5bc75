// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/recall/drained.h"

#include <utility>

#include "controller/queue/index/cluster_index.h"
#include "controller/queue/recall/gang_recall.h"

namespace berth::queue {

std::optional<Drained> drained(const ClusterState& cluster, const Workload& workload) {
  const FactsIndex& facts = cluster.view<ClusterIndex>().facts();
  if (!is_gang_of_several(workload) || !facts.is_drained(workload)) return std::nullopt;
  const AdmissionFact& admission = *workload.standing.admission;
  std::vector<const berth::Pod*> round = round_of(cluster, workload, admission.since);
  if (round.empty()) return std::nullopt;
  Drained out{.why = "queue " + admission.queue + " is drained"};
  for (const berth::Pod* pod : round)
    if (!pod->terminating() && !pod->node_name.empty()) out.bound.push_back(pod);
  out.stays = why_not_whole(cluster, round, out.bound);
  if (out.stays.empty()) out.recalled = std::move(round);
  return out;
}

}  // namespace berth::queue
