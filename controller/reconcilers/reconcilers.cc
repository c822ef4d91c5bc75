// SPDX-License-Identifier: Apache-2.0
#include "controller/reconcilers/reconcilers.h"

#include <utility>

#include "controller/disruption/rollout_annotation.h"
#include "controller/disruption/slots.h"
#include "controller/mig/reconcile.h"
#include "controller/mig/rollout_figures.h"
#include "controller/policy/pool_figures.h"
#include "controller/policy/reconcile.h"
#include "controller/reconcilers/key_families.h"
#include "controller/reconcilers/keys.h"
#include "controller/reconcilers/reconcile.h"

namespace berth {
namespace {

std::optional<RolloutStage> stage_of(const Node& node) {
  const RolloutRecord record = read_rollout(node);
  if (!record.rollout) return std::nullopt;
  return RolloutStage{.phase = to_string(record.rollout->phase),
                      .since = record.rollout->since,
                      .idle = record.idle()};
}

}  // namespace

Reconcilers reconcilers(const Settings& settings) {
  Reconcilers all;
  all.reconcile = [](const Snapshot& snapshot, std::string_view key) {
    return reconcile(snapshot, key);
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
    return keys;
  };
  all.claim_epoch = [settings](const ConfigMap* ledger) {
    EpochClaim claim = claim_epoch(ledger, settings);
    return std::pair<Write, std::int64_t>(std::move(claim.write), claim.epoch);
  };
  all.rollout_stage = stage_of;
  all.rollout_end = [](const Node& before, const Node& after) -> std::optional<std::string> {
    const std::optional<RolloutEnd> end = rollout_end(before, after);
    return end ? std::optional<std::string>(to_string(*end)) : std::nullopt;
  };
  for (const RolloutEnd end : kRolloutEnds) all.rollout_ends.emplace_back(to_string(end));
  all.figures = [settings](const ClusterState& cluster) {
    Figures figures = rollout_figures(cluster, settings);
    for (Figure& figure : pool_figures(cluster)) figures.push_back(std::move(figure));
    return figures;
  };
  return all;
}

}  // namespace berth
