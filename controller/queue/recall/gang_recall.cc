// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/recall/gang_recall.h"

#include <fmt/format.h>

#include <algorithm>

#include "controller/queue/index/cluster_index.h"
#include "controller/queue/index/facts_from.h"
#include "controller/queue/index/named.h"
#include "controller/queue/index/remakers.h"
#include "controller/queue/recall/requeue.h"
#include "controller/queue/record/admission_record.h"

namespace berth::queue {

bool is_running_gang(const Workload& workload) {
  if (workload.job || !workload.pods || workload.pods->admitted.empty()) return false;
  const AdmissionFact* admission = workload.standing.admission;
  return workload.name->starts_with("PodGroup/") && admission != nullptr &&
         (!workload.recall || workload.recall->since != admission->since);
}

bool is_gang_of_several(const Workload& workload) {
  return is_running_gang(workload) && workload.standing.pods > 1;
}

std::vector<const berth::Pod*> round_of(const ClusterState& cluster, const Workload& workload,
                                        std::int64_t since) {
  std::vector<const berth::Pod*> round;
  for (const berth::Pod* pod : pods_of(cluster, cluster.view<ClusterIndex>(), *workload.name)) {
    if (is_gated(*pod) || pod->finished()) continue;
    const auto record = admission_on(*pod);
    if (record && record->since == since) round.push_back(pod);
  }
  return round;
}

bool has_round(const Workload& workload, std::int64_t since) {
  return workload.pods && std::ranges::any_of(workload.pods->admitted, [&](const Pod* pod) {
           return pod->admitted->since == since;
         });
}

std::string why_not_whole(const ClusterState& cluster, const std::vector<const berth::Pod*>& round,
                          const std::vector<const berth::Pod*>& asked) {
  Remakers remakers(cluster);
  for (const berth::Pod* pod : round) {
    if (pod->terminating()) continue;
    if (std::string why = remakers.why_not(*pod); !why.empty()) return why;
  }
  if (const auto overdraft = find_overdraft(cluster, asked))
    return fmt::format("PodDisruptionBudget {} keeps {} of its pods", overdraft->budget->meta.name,
                       asked.size() == round.size() ? "some" : "others");
  return "";
}

std::string why_gang_stays(const ClusterState& cluster, const Workload& workload,
                           const std::vector<const berth::Pod*>& round,
                           const std::vector<const berth::Pod*>& asked) {
  if (!admits(cluster.view<ClusterIndex>().facts(), workload.standing.admission->queue))
    return "its queue would not let it go again";
  return why_not_whole(cluster, round, asked);
}

}  // namespace berth::queue
