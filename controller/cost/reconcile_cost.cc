// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <utility>

#include "apis/base/names.h"
#include "controller/core/config_map_texts.h"
#include "controller/cost/cost_meter.h"
#include "controller/cost/fleet_cost.h"
#include "controller/cost/node_price.h"
#include "controller/fleet/pools.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

constexpr Duration kBetweenLooks = 10s;
constexpr Duration kBetweenCheckpoints = 1min;
constexpr Duration kLongestGap = 10min;  // without a leader

const ConfigMap* standing_in(const ClusterState& cluster, const Settings& settings) {
  return cluster.config_maps().find(settings.berth_namespace, names::kCostsConfigMap);
}

}  // namespace

cost::CostLedger costs_in(const ClusterState& cluster, const Settings& settings) {
  const ConfigMap* standing = standing_in(cluster, settings);
  return standing == nullptr ? cost::CostLedger() : cost::read_costs(standing->data);
}

// Starts again from the ConfigMap if another process or a user has changed it.
void CostMeter::begin_anew_if_edited(const ConfigMap* standing, Time now) {
  static const cost::CostTexts kNone;
  const cost::CostTexts& stands = standing == nullptr ? kNone : standing->data;
  if (looked_ && stands == written_) read_ = stands;
  if (looked_ && stands == read_) return;
  ledger_ = cost::read_costs(stands);
  written_at_ = ledger_.at;
  if (ledger_.at && now - *ledger_.at > kLongestGap) ledger_.at.reset();
  looked_ = false;
  read_ = written_ = stands;
}

Plan CostMeter::reconcile(const Snapshot& snapshot) {
  Plan plan;
  const GPUClusterPolicy* policy = find_policy(snapshot.cluster);
  if (snapshot.offline || policy == nullptr || !cost::has_prices(policy->spec)) {
    *this = CostMeter();
    return plan;
  }
  const ConfigMap* standing = standing_in(snapshot.cluster, snapshot.settings);
  begin_anew_if_edited(standing, snapshot.now);
  cost::SpendingsByCurrency now = cost::hourly_cost(snapshot, *policy);
  cost::spend_until(snapshot.now, looked_ ? hourly_ : now, ledger_);
  hourly_ = std::move(now);
  looked_ = true;
  plan.requeue_in(kBetweenLooks);
  if (written_at_ && std::chrono::abs(snapshot.now - *written_at_) < kBetweenCheckpoints)
    return plan;
  written_ = cost::encode_costs(ledger_);
  written_at_ = snapshot.now;
  Write step = write_texts({snapshot.settings.berth_namespace, names::kCostsConfigMap},
                           names::kManagerPolicy, standing, written_, "what GPUs have cost");
  step.in_history = false;
  const ObjectRef object = step.object;
  plan.add(object, std::move(step));
  return plan;
}

}  // namespace berth
