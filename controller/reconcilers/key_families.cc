// SPDX-License-Identifier: Apache-2.0
#include "controller/reconcilers/key_families.h"

#include <algorithm>
#include <memory>
#include <string>

#include "controller/admission/reconcile_bypass.h"
#include "controller/core/bug.h"
#include "controller/cost/cost_meter.h"
#include "controller/cost/fleet_cost.h"
#include "controller/health/reconcile.h"
#include "controller/mig/reconcile.h"
#include "controller/observe/reconcile.h"
#include "controller/policy/reconcile.h"
#include "controller/queue/admit/reconcile.h"
#include "controller/queue/recall/reconcile.h"
#include "controller/queue/starts/reconcile.h"
#include "controller/queue/starts/start_teller.h"
#include "controller/queue/status/reconcile.h"
#include "controller/queue/status/usage_meter.h"

namespace berth {

using namespace std::chrono_literals;

namespace {

// For keys that no name ends.
template <Plan (*kReconcile)(const Snapshot&)>
Plan whole(const Snapshot& snapshot, std::string_view) {
  return kReconcile(snapshot);
}

template <class Keeper>
std::function<Plan(const Snapshot&)> start() {
  return [keeper = std::make_shared<Keeper>()](const Snapshot& snapshot) {
    return keeper->reconcile(snapshot);
  };
}

Plan reconcile_idle_with_prices(const Snapshot& snapshot) {
  return reconcile_idle(snapshot,
                        [&](const Pod& pod) { return cost::monthly_price(snapshot, pod); });
}

}  // namespace

const std::array<KeyFamily, 20> kKeyFamilies = {{
    {.prefix = kLayoutKeys, .reconcile = reconcile_mig_layout, .interval = 1s},
    {.prefix = kNodeKeys, .reconcile = reconcile_node_rollout, .urgent = true},
    {.prefix = kPoolKeys, .reconcile = reconcile_pool_node},
    {.prefix = kBypassKeys, .reconcile = reconcile_bypass},
    {.prefix = kSlotsKey, .reconcile = whole<reconcile_slots>},
    {.prefix = kAgentConfigKey,
     .reconcile = whole<reconcile_agent_config>,
     .interval = 1s,
     .tidies = true},
    {.prefix = kPolicyKey,
     .reconcile = whole<reconcile_policy>,
     .on_samples = true,
     .interval = 1s},
    {.prefix = kIdleKey,
     .reconcile = whole<reconcile_idle_with_prices>,
     .on_policy_edit = true,
     .on_samples = true,
     .interval = 1s},
    {.prefix = queue::kReclaimKey,
     .reconcile = whole<queue::reconcile_reclaim>,
     .on_policy_edit = true,
     .on_samples = true,
     .interval = 1s},
    {.prefix = kCostKey,
     .starts = start<CostMeter>,
     .on_policy_edit = true,
     .on_samples = true,
     .interval = 1s},
    {.prefix = kHealthKey,
     .reconcile = whole<reconcile_health>,
     .on_policy_edit = true,
     .on_samples = true,
     .interval = 1s},
    {.prefix = queue::kQueuesKey, .reconcile = whole<queue::reconcile_queues>, .interval = 1s},
    {.prefix = queue::kNamespaceQuotasKey,
     .reconcile = whole<queue::reconcile_namespace_quotas>,
     .interval = 1s},
    {.prefix = queue::kAdmissionsKey,
     .reconcile = whole<queue::reconcile_admissions>,
     .on_samples = true,
     .interval = 50ms},
    {.prefix = queue::kReasonsKey, .reconcile = whole<queue::reconcile_reasons>, .interval = 1s},
    {.prefix = queue::kEstimatesKey, .starts = start<queue::StartTeller>, .interval = 1s},
    {.prefix = queue::kUsageKey, .starts = start<queue::UsageMeter>, .interval = 1s},
    {.prefix = queue::kReleaseKeys, .reconcile = queue::reconcile_release, .urgent = true},
    {.prefix = queue::kRequeueKeys, .reconcile = queue::reconcile_requeue},
    {.prefix = queue::kDeadNodeKeys, .reconcile = queue::reconcile_dead_node},
}};

const KeyFamily& family_of(std::string_view key) {
  const auto family =
      std::ranges::find_if(kKeyFamilies, [&](const KeyFamily& each) { return each.has(key); });
  if (family == kKeyFamilies.end()) bug("no reconciler has the key " + std::string(key));
  return *family;
}

}  // namespace berth
