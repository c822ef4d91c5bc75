// SPDX-License-Identifier: Apache-2.0
#include "controller/reconcilers/key_families.h"

#include <algorithm>
#include <string>

#include "controller/admission/reconcile_bypass.h"
#include "controller/core/bug.h"
#include "controller/cost/cost_meter.h"
#include "controller/cost/fleet_cost.h"
#include "controller/health/reconcile.h"
#include "controller/mig/reconcile.h"
#include "controller/observe/reconcile.h"
#include "controller/policy/reconcile.h"
#include "controller/queue/reconcile.h"

namespace berth {

using namespace std::chrono_literals;

const std::array<KeyFamily, 20> kKeyFamilies = {{
    {.prefix = kLayoutKeys, .reconcile = reconcile_mig_layout, .interval = 1s},
    {.prefix = kNodeKeys, .reconcile = reconcile_node_rollout, .urgent = true},
    {.prefix = kPoolKeys, .reconcile = reconcile_pool_node},
    {.prefix = kBypassKeys, .reconcile = reconcile_bypass},
    {.prefix = kSlotsKey,
     .reconcile = [](const Snapshot& snapshot,
                     std::string_view) { return reconcile_slots(snapshot); }},
    {.prefix = kAgentConfigKey,
     .reconcile = [](const Snapshot& snapshot,
                     std::string_view) { return reconcile_agent_config(snapshot); },
     .interval = 1s,
     .tidies = true},
    {.prefix = kPolicyKey,
     .reconcile = [](const Snapshot& snapshot,
                     std::string_view) { return reconcile_policy(snapshot); },
     .interval = 1s},
    {.prefix = kIdleKey,
     .reconcile =
         [](const Snapshot& snapshot, std::string_view) {
           return reconcile_idle(
               snapshot, [&](const Pod& pod) { return cost::monthly_price(snapshot, pod); });
         },
     .interval = 1s},
    {.prefix = kReclaimKey,
     .reconcile = [](const Snapshot& snapshot,
                     std::string_view) { return reconcile_reclaim(snapshot); },
     .interval = 1s},
    {.prefix = kCostKey,
     .reconcile = [](const Snapshot& snapshot,
                     std::string_view) { return reconcile_cost(snapshot); },
     .interval = 1s},
    {.prefix = kHealthKey,
     .reconcile = [](const Snapshot& snapshot,
                     std::string_view) { return reconcile_health(snapshot); },
     .interval = 1s},
    {.prefix = kQueuesKey,
     .reconcile = [](const Snapshot& snapshot,
                     std::string_view) { return reconcile_queues(snapshot); },
     .interval = 1s},
    {.prefix = kNamespaceQuotasKey,
     .reconcile = [](const Snapshot& snapshot,
                     std::string_view) { return reconcile_namespace_quotas(snapshot); },
     .interval = 1s},
    {.prefix = kAdmissionsKey,
     .reconcile = [](const Snapshot& snapshot,
                     std::string_view) { return reconcile_admissions(snapshot); },
     .interval = 50ms},
    {.prefix = kReasonsKey,
     .reconcile = [](const Snapshot& snapshot,
                     std::string_view) { return reconcile_reasons(snapshot); },
     .interval = 1s},
    {.prefix = kEstimatesKey,
     .reconcile = [](const Snapshot& snapshot,
                     std::string_view) { return reconcile_estimates(snapshot); },
     .interval = 1s},
    {.prefix = kUsageKey,
     .reconcile = [](const Snapshot& snapshot,
                     std::string_view) { return reconcile_usage(snapshot); },
     .interval = 1s},
    {.prefix = kReleaseKeys, .reconcile = reconcile_release, .urgent = true},
    {.prefix = kRequeueKeys, .reconcile = reconcile_requeue},
    {.prefix = kDeadNodeKeys, .reconcile = reconcile_dead_node},
}};

const KeyFamily& family_of(std::string_view key) {
  const auto family =
      std::ranges::find_if(kKeyFamilies, [&](const KeyFamily& each) { return each.has(key); });
  if (family == kKeyFamilies.end()) bug("no reconciler has the key " + std::string(key));
  return *family;
}

}  // namespace berth
