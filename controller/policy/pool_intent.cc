// SPDX-License-Identifier: Apache-2.0
#include "controller/policy/pool_intent.h"

#include <algorithm>

#include "apis/base/names.h"

namespace berth {
namespace {

constexpr char kNoSchedule[] = "NoSchedule";

// Whether the pods of the DaemonSet must be able to return to a node after each pause.
bool is_nvidia_agent(const DaemonSet& set) {
  const Text app = set.meta.labels.get("app");
  return app.view().starts_with("nvidia-") || app == "gpu-feature-discovery";
}

bool all_tolerate(const AgentTolerations& agents, const Taint& taint) {
  return std::ranges::all_of(agents, [&](const std::vector<Toleration>& tolerations) {
    return tolerates(tolerations, taint);
  });
}

}  // namespace

AgentTolerations agent_tolerations(const Snapshot& snapshot) {
  AgentTolerations agents;
  for (const auto& policy : snapshot.cluster.cluster_policies())
    agents.push_back(policy->operand_tolerations);
  if (!agents.empty()) return agents;
  for (const auto& set : snapshot.cluster.daemon_sets())
    if (set->meta.namespace_ == std::string_view(snapshot.settings.agents_namespace) &&
        is_nvidia_agent(*set))
      agents.push_back(set->tolerations);
  return agents;
}

PoolIntent intent_of(const PoolSpec& pool, const AgentTolerations& agents) {
  PoolIntent intent{.pool = pool.name, .items = {}, .held_back = {}};
  for (const auto& [key, value] : pool.labels) intent.items[{key, {}}] = value;
  intent.items[{Text(names::kPoolLabel), {}}] = Text(pool.name);
  for (const Taint& taint : pool.taints) {
    if (taint.effect == kNoSchedule && !all_tolerate(agents, taint))
      intent.held_back.push_back(taint);
    else
      intent.items[{taint.key, taint.effect}] = taint.value;
  }
  return intent;
}

}  // namespace berth
