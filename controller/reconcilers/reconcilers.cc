// SPDX-License-Identifier: Apache-2.0
#include "controller/reconcilers/reconcilers.h"

#include <memory>
#include <utility>

#include "controller/core/stop.h"
#include "controller/disruption/slots.h"
#include "controller/mig/reconcile.h"
#include "controller/mig/rollout_figures.h"
#include "controller/mig/rollout_measures.h"
#include "controller/policy/namespace_figures.h"
#include "controller/policy/pool_figures.h"
#include "controller/policy/reconcile.h"
#include "controller/queue/recall/idle_measures.h"
#include "controller/queue/status/budget_figures.h"
#include "controller/queue/status/queue_figures.h"
#include "controller/queue/status/reconcile.h"
#include "controller/reconcilers/cause_of.h"
#include "controller/reconcilers/key_families.h"
#include "controller/reconcilers/keys.h"
#include "controller/reconcilers/reconcile.h"

namespace berth {

Reconcilers reconcilers(const Settings& settings) {
  Reconcilers all;
  // What a process has counted, or played, goes with it, as its caches do.
  all.reconcile = [started = std::make_shared<StartedFamilies>()](const Snapshot& snapshot,
                                                                  std::string_view key) {
    return reconcile(snapshot, key, *started);
  };
  all.families = kKeyFamilies;
  all.all_keys = [settings](const ClusterState& cluster) { return all_keys(cluster, settings); };
  Watched::each([&]<class T>() {
    std::get<KeysFor<T>>(all.keys_for) = [settings](const ClusterState& cluster, const T* old,
                                                    const T* now) {
      return keys_for(cluster, settings, old, now);
    };
  });
  all.keys_of_refusal = [](const ClusterState& cluster) {
    std::vector<std::string> keys{std::string(kSlotsKey)};
    for (const auto& layout : cluster.mig_layouts()) keys.push_back(layout_key(layout->meta.name));
    if (cluster.gpu_policies().size() > 0) keys.emplace_back(kPolicyKey);
    if (cluster.gpu_queues().size() > 0) keys.emplace_back(queue::kQueuesKey);
    return keys;
  };
  all.cause_of = cause_of;
  all.claim_epoch = [settings](const ConfigMap* ledger, std::int64_t above) {
    EpochClaim claim = claim_epoch(ledger, settings, above);
    return std::pair<Write, std::int64_t>(std::move(claim.write), claim.epoch);
  };
  all.measures = {&kRolloutPhaseSeconds, &kNodeRollouts, &queue::kIdleReclaims};
  all.figures = [settings](const ClusterState& cluster) {
    Figures figures = rollout_figures(cluster, settings);
    for (Figure& figure : pool_figures(cluster)) figures.push_back(std::move(figure));
    for (Figure& figure : namespace_figures(cluster)) figures.push_back(std::move(figure));
    for (Figure& figure : queue::queue_figures(cluster)) figures.push_back(std::move(figure));
    for (Figure& figure : queue::budget_figures(cluster, settings))
      figures.push_back(std::move(figure));
    for (Figure& figure : stop_figures(cluster, settings)) figures.push_back(std::move(figure));
    return figures;
  };
  return all;
}

}  // namespace berth
