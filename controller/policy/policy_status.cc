// SPDX-License-Identifier: Apache-2.0
// Outline: the counts; then what only a user can solve, worst first; then what makes progress by
// itself.
#include "controller/policy/policy_status.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/conditions.h"
#include "controller/core/empty_selection.h"
#include "controller/core/plural.h"
#include "controller/core/refused_write.h"
#include "controller/core/stop.h"
#include "controller/cost/fleet_cost.h"
#include "controller/disruption/health_record.h"
#include "controller/fleet/disruption_calendar.h"
#include "controller/health/survey.h"
#include "controller/observe/gpu_use.h"
#include "controller/observe/idle_pods.h"
#include "controller/observe/metrics_missing.h"
#include "controller/policy/nodes_to_come.h"
#include "controller/policy/policy_events.h"
#include "controller/policy/policy_reasons.h"
#include "controller/queue/recall/idle_work.h"

namespace berth {
namespace {

// Returns how many pods may share one GPU.
std::int32_t shared_by(const PoolSpec& pool) { return std::max(pool.sharing.replicas, 1); }

void tell_counts(const PoolSurvey& survey, GPUClusterPolicyStatus& status) {
  status.totals.pools = static_cast<std::int32_t>(survey.pools.size());
  for (const PoolFacts& facts : survey.pools) {
    PoolStatus& pool = status.pools.emplace_back();
    pool.name = facts.pool->name;
    pool.nodes = facts.nodes;
    pool.gpus = facts.gpus;
    pool.allocated = facts.allocated;
    pool.shared_by = shared_by(*facts.pool);
    status.totals.nodes += facts.nodes;
    status.totals.gpus += facts.gpus;
    status.totals.allocated += facts.allocated;
  }
  status.totals.conflicts = survey.conflict_count;
  status.conflicts = survey.conflicts;
}

void add(const Snapshot& snapshot, const GPUClusterPolicy& policy, const char* type,
         const char* status, const Cause& verdict, std::vector<Condition>& conditions) {
  conditions.push_back({type, status, verdict.reason,
                        cut_before_advice(verdict.message, limits::kMaxMessage),
                        policy.meta.generation, snapshot.now});
}

// Keeps what was measured before this process first looked, because nothing newer is known.
void keep_use(const GPUClusterPolicyStatus& standing, GPUClusterPolicyStatus& status) {
  status.totals.idle_gpus = standing.totals.idle_gpus;
  status.totals.monthly_waste = standing.totals.monthly_waste;
  for (PoolStatus& pool : status.pools) {
    const auto was = std::ranges::find(standing.pools, pool.name, &PoolStatus::name);
    if (was == standing.pools.end()) continue;
    pool.utilization = was->utilization;
    pool.idle_gpus = was->idle_gpus;
    pool.monthly_waste = was->monthly_waste;
  }
}

void tell_use(const GpuUse& use, GPUClusterPolicyStatus& status) {
  for (std::size_t i = 0; i < use.pools.size() && i < status.pools.size(); ++i) {
    if (use.pools[i].measured == 0) continue;
    status.pools[i].utilization = use.pools[i].percent();
    status.pools[i].idle_gpus = use.pools[i].idle;
  }
  if (use.total.measured > 0) status.totals.idle_gpus = use.total.idle;
}

std::string monthly(cost::Micros hourly) {
  return cost::format_money(cost::capped_product(hourly, cost::kHoursOfMonth), 0);
}

// If nothing was ever measured, the waste is unknown.
void tell_waste(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                GPUClusterPolicyStatus& status) {
  if (!snapshot.samples.measured_at) return;
  std::vector<std::string> totals;
  for (const auto& [currency, hourly] : cost::hourly_cost(snapshot, policy)) {
    cost::Micros sum = 0;
    for (PoolStatus& pool : status.pools) {
      const auto found = hourly.pools.find(pool.name);
      if (found == hourly.pools.end()) continue;
      pool.monthly_waste = monthly(found->second.waste());
      sum = cost::capped_sum(sum, found->second.waste());
    }
    totals.push_back(monthly(sum) + " " + currency);
  }
  status.totals.monthly_waste = fmt::format("{}", fmt::join(totals, ", "));
}

void tell_reclaimed(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                    GPUClusterPolicyStatus& status) {
  const IdlePolicy idle = policy.spec.idle.policy;
  if (idle == IdlePolicy::kOnPressure || idle == IdlePolicy::kAlways)
    status.totals.reclaimed = queue::count_reclaimed(snapshot);
}

// Even if nothing was ever measured, what nodes offer may show a fault.
void tell_health(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                 GPUClusterPolicyStatus& status, std::vector<Condition>& conditions) {
  const HealthSurvey survey = survey_health(snapshot, policy);
  if (snapshot.samples.measured_at || survey.unhealthy() > 0)
    status.totals.unhealthy_nodes = survey.unhealthy();
  const bool acts = policy.spec.health.action != HealthAction::kReport;
  if (const std::optional<Cause> limited = acts ? survey.told() : std::nullopt)
    add(snapshot, policy, kHealthLimited, "True", *limited, conditions);
  if (const std::optional<Cause> doubted = survey.not_confirmed())
    add(snapshot, policy, kNotConfirmed, "True", *doubted, conditions);
}

// The uninstall guard reads this, because only berth uncordons these nodes. A policy that is being
// deleted reports them too.
void tell_cordoned(const Snapshot& snapshot, GPUClusterPolicyStatus& status) {
  status.totals.cordoned_nodes = static_cast<std::int32_t>(std::ranges::count_if(
      snapshot.cluster.nodes(), [](const auto& node) { return is_out_for_health(*node); }));
}

// Reports the measured use of GPUs, and what could not be measured.
void tell_measured(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                   GPUClusterPolicyStatus& status, std::vector<Condition>& conditions) {
  if (!snapshot.samples.tried_at) {
    keep_use(policy.status, status);
    if (const Condition* missing = find_true(policy.status.conditions, kMetricsMissing))
      conditions.push_back(*missing);
    return;
  }
  const GpuUse use = survey_use(snapshot, policy);
  tell_use(use, status);
  tell_waste(snapshot, policy, status);
  if (const std::optional<Cause> missing = metrics_missing(snapshot, policy, use))
    add(snapshot, policy, kMetricsMissing, "True", *missing, conditions);
  if (snapshot.samples.ignored)
    add(snapshot, policy, kMetricsIgnored, "True", *snapshot.samples.ignored, conditions);
  // The condition already names a fault that is not confirmed.
  if (find_true(conditions, kNotConfirmed) != nullptr) return;
  if (const std::optional<Cause> kept = idle_not_confirmed(snapshot, policy, use))
    add(snapshot, policy, kNotConfirmed, "True", *kept, conditions);
}

// metav1.Time has whole seconds, so finer times would differ from what the API server returns.
DisruptionStatus in_seconds(DisruptionStatus calendar) {
  for (std::optional<Time>* time : {&calendar.next_opening, &calendar.closes})
    if (*time) *time = std::chrono::floor<std::chrono::seconds>(**time);
  return calendar;
}

// berth watches what its flags name, whatever the policy says.
std::optional<Cause> agents_mismatch(const Snapshot& snapshot, const AgentsSpec& agents) {
  const Settings& settings = snapshot.settings;
  if (agents.namespace_ != settings.agents_namespace)
    return Cause{reasons::kAgentsMismatch,
                 fmt::format("spec.agents.namespace is {}, and berth runs with "
                             "--agents-namespace={}; make them the same",
                             agents.namespace_, settings.agents_namespace)};
  if (agents.mig_manager_config_map != settings.mig_config_map)
    return Cause{reasons::kAgentsMismatch,
                 fmt::format("spec.agents.migManagerConfigMap is {}, and berth writes {} by its "
                             "flags; make them the same",
                             agents.mig_manager_config_map, settings.mig_config_map)};
  return std::nullopt;
}

// Returns a problem of the device plugin, if a pool needs it.
std::optional<Cause> plugin_trouble(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                    const PolicyProgress& progress) {
  const PoolSurvey& survey = progress.survey;
  const bool asked = std::ranges::any_of(
      survey.pools, [](const PoolFacts& facts) { return facts.plugin && facts.nodes > 0; });
  if (!asked) return std::nullopt;
  if (progress.unread) return progress.unread;
  if (progress.file.kept())
    if (auto lost = progress.file.kept()->lost()) return lost;
  for (const auto& nvidia : snapshot.cluster.cluster_policies())
    for (const PoolFacts& facts : survey.pools)
      if (facts.pool->mig_strategy && !nvidia->mig_strategy.empty() &&
          nvidia->mig_strategy != to_string(*facts.pool->mig_strategy))
        return Cause{reasons::kMigStrategyOverridden,
                     fmt::format("pool {} sets migStrategy {}, but NVIDIA's ClusterPolicy sets "
                                 "{} on every node; set its spec.mig.strategy to \"\"",
                                 facts.pool->name, to_string(*facts.pool->mig_strategy),
                                 nvidia->mig_strategy)};
  // A default that existed before berth is also for nodes without a pool. It matters only if a pool
  // sets nothing.
  const std::string shared = progress.file.shared_default();
  const bool follows = std::ranges::any_of(
      survey.pools, [](const PoolFacts& facts) { return !facts.plugin && facts.nodes > 0; });
  if (shared == kDefaultPluginConfig || (!shared.empty() && follows))
    return Cause{
        reasons::kPluginDefaultTaken,
        fmt::format("key {} of ConfigMap {}/{} is not berth's and enables sharing, which nodes of "
                    "pools without sharing follow; write \"version: v1\" there, or "
                    "another name in spec.agents.devicePluginConfigMap",
                    shared, snapshot.settings.agents_namespace,
                    policy.spec.agents.device_plugin_config_map)};
  return std::nullopt;
}

std::optional<Cause> held_back(const PoolSurvey& survey) {
  for (const PoolFacts& facts : survey.pools) {
    if (facts.intent.held_back.empty()) continue;
    const Taint& taint = facts.intent.held_back.front();
    return Cause{
        reasons::kOperandsNotTolerant,
        fmt::format("taint {0} of pool {1} is held back: it would keep NVIDIA's agents away; add "
                    "to ClusterPolicy spec.daemonsets.tolerations: {{key: {0}, operator: Exists, "
                    "effect: {2}}}",
                    taint.key.view(), facts.pool->name, taint.effect.view())};
  }
  return std::nullopt;
}

// Covers all writes of the policy: nodes, the device plugin's file, and PriorityClasses.
std::optional<Cause> refused(const Snapshot& snapshot) {
  const auto write = refused_write_by(snapshot, names::kManagerPolicy);
  if (!write) return std::nullopt;
  return Cause{reasons::kWriteRefused, fmt::format("{}: {}", write->object, write->message)};
}

// Returns the refusal of berth's writes by the API server or an admission policy.
std::optional<Cause> hindered(const Snapshot& snapshot, const PolicyProgress& progress) {
  if (auto why = refused(snapshot)) return why;
  return key_forbidden(progress.survey.forbidden, snapshot.settings.node_keys);
}

std::optional<Cause> stalled(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                             const PolicyProgress& progress) {
  if (auto why = agents_mismatch(snapshot, policy.spec.agents)) return why;
  const DisruptionCalendar calendar(policy.spec.disruption, snapshot.zones);
  if (!calendar.problems().empty())
    return Cause{reasons::kPolicyInvalid, describe(calendar.problems().front())};
  if (auto why = hindered(snapshot, progress)) return why;
  if (auto why = held_back(progress.survey)) return why;
  if (auto why = plugin_trouble(snapshot, policy, progress)) return why;
  if (progress.survey.disputed_count > 0)
    return Cause{reasons::kKeysContested,
                 fmt::format("somebody else sets what the pools set, and berth does not "
                             "overwrite it: {}{}; find out who, or edit the pool",
                             fmt::join(progress.survey.disputed, ", "),
                             static_cast<std::size_t>(progress.survey.disputed_count) >
                                     progress.survey.disputed.size()
                                 ? ", …"
                                 : "")};
  if (!progress.classes.taken.empty())
    return Cause{reasons::kPriorityClassTaken,
                 fmt::format("PriorityClass {} is not berth's and stays as it is; delete it, or "
                             "give spec.priorityClasses another name",
                             fmt::join(progress.classes.taken, ", "))};
  return std::nullopt;
}

std::string list_nodes(const std::vector<std::string>& names) {
  return fmt::format("{} ({})", list_first(names, 3),
                     plural(static_cast<std::int64_t>(names.size()), "node"));
}

// Returns nodes that are changing to their pool's config, then those that are about to.
std::vector<std::string> changing_sharing(const PolicyProgress& progress) {
  std::vector<std::string> names;
  for (const Node* node : progress.labels.settling) names.push_back(node->meta.name);
  for (const PluginLabelDue& due : progress.survey.plugin_due)
    if (!due.foreign) names.push_back(due.node->meta.name);
  return names;
}

std::vector<std::string> leaving(const PolicyProgress& progress) {
  std::vector<std::string> names;
  for (const RetreatDue& due : progress.survey.retreats) names.push_back(due.node->meta.name);
  return names;
}

std::string priority_classes(std::int32_t count) {
  return fmt::format("{} {}", count, word_for(count, "PriorityClass", "PriorityClasses"));
}

std::string labelling(std::int32_t nodes, std::int32_t classes) {
  if (nodes > 0)
    return fmt::format("{} {} not show {} pool's labels and taints yet", plural(nodes, "node"),
                       word_for(nodes, "does", "do"), word_for(nodes, "its", "their"));
  return fmt::format("{} {} still to be written", priority_classes(classes),
                     word_for(classes, "is", "are"));
}

std::optional<Cause> moving(const GPUClusterPolicy& policy, const PolicyProgress& progress) {
  const PoolSurvey& survey = progress.survey;
  const std::string why = progress.labels.why ? "; " + progress.labels.why->message : "";
  if (policy.meta.deletion_timestamp)
    return Cause{reasons::kRetreating,
                 fmt::format("{} and {} still carry what the policy put there{}",
                             plural(survey.carrying, "node"),
                             priority_classes(progress.classes.standing), why)};
  if (survey.changing > 0 || progress.classes.changing > 0)
    return Cause{reasons::kLabelling, labelling(survey.changing, progress.classes.changing)};
  if (const std::vector<std::string> nodes = changing_sharing(progress); !nodes.empty())
    return Cause{
        progress.labels.why ? progress.labels.why->reason : reasons::kPluginRollout,
        fmt::format("not yet offering GPUs as their pool says: {}{}", list_nodes(nodes), why)};
  if (const std::vector<std::string> nodes = leaving(progress); !nodes.empty())
    return Cause{progress.labels.why ? progress.labels.why->reason : reasons::kLabelling,
                 fmt::format("still with labels or taints that no pool asks for: {}{}",
                             list_nodes(nodes), why)};
  return std::nullopt;
}

// Labels and taints wait while berth is stopped. A change that the device plugin has begun
// continues.
std::optional<Cause> unless_stopped(const Snapshot& snapshot, const PolicyProgress& progress,
                                    std::optional<Cause> going) {
  const std::optional<Cause> stopped = why_stopped(snapshot);
  if (!stopped || !going || progress.survey.changing == 0) return going;
  const bool said = going->message.ends_with(stopped->message);  // nodes wait for the same reason
  return Cause{stopped->reason,
               said ? going->message : fmt::format("{}; {}", going->message, stopped->message)};
}

// Whether nodes that the autoscaler may add could offer the resource.
bool may_come(const ClusterState& cluster, const PoolSurvey& survey, const std::string& resource) {
  return std::ranges::any_of(survey.pools, [&](const PoolFacts& facts) {
    return facts.pool->elastic && facts.nodes == 0 &&
           resources_to_come(cluster, *facts.pool, {}).contains(resource);
  });
}

// Describes what is in order, but probably not what the user intended.
std::string doubts(const Snapshot& snapshot, const PoolSurvey& survey,
                   const GPUClusterPolicy& policy) {
  std::string text;
  bool explained = false;
  for (std::size_t i = 0; i < survey.pools.size(); ++i) {
    const PoolFacts& facts = survey.pools[i];
    if (facts.nodes > 0) continue;
    if (facts.pool->elastic) {
      text += fmt::format("; pool {} has no node yet, and an autoscaler may add {}",
                          facts.pool->name, facts.pool->elastic->max_nodes);
      continue;
    }
    text += fmt::format("; spec.pools[{}].nodeSelector selects no GPU node for {}", i,
                        facts.pool->name);
    // Only for the first pool: the message has space for one explanation.
    const auto& nodes = snapshot.cluster.nodes();
    const bool selects = std::ranges::any_of(nodes, [&](const auto& node) {
      return facts.pool->node_selector.matches(node->meta.labels);
    });
    if (!selects && !std::exchange(explained, true))
      text += ": " + why_none_matches(facts.pool->node_selector, snapshot.cluster);
  }
  if (survey.strays > 0)
    text += fmt::format(
        "; {} {} a pool's label that berth did not set, and no pool selects {}: {}"
        "{}; remove the label there and in the node group's template",
        plural(survey.strays, "node"), word_for(survey.strays, "has", "have"),
        word_for(survey.strays, "it", "them"), survey.stray, survey.strays > 1 ? ", …" : "");
  for (std::size_t i : survey.unoffered) {
    const CatalogEntry& entry = policy.spec.resource_catalog[i];
    if (may_come(snapshot.cluster, survey, entry.resource)) continue;
    text += fmt::format("; spec.resourceCatalog[{}].resource: no node offers {} now", i,
                        entry.resource);
  }
  return text;
}

std::string in_place(const Snapshot& snapshot, const PoolSurvey& survey,
                     const GPUClusterPolicyStatus& status, const GPUClusterPolicy& policy) {
  const PolicyTotals& totals = status.totals;
  std::string text = fmt::format("{} {} {} with {}", plural(totals.pools, "pool"),
                                 word_for(totals.pools, "has", "have"),
                                 plural(totals.nodes, "node"), plural(totals.gpus, "GPU"));
  if (survey.conflict_count > 0)
    text += fmt::format("; {} {} selected by several pools and {} to the first: {}{}",
                        plural(survey.conflict_count, "node"),
                        word_for(survey.conflict_count, "is", "are"),
                        word_for(survey.conflict_count, "belongs", "belong"),
                        survey.conflicts.front().node, survey.conflict_count > 1 ? ", …" : "");
  return text + doubts(snapshot, survey, policy);
}

// Whether the policy makes progress without a user, and the user's problem concerns only a part.
bool goes_on(const Cause& stuck, const std::optional<Cause>& going) {
  const PolicyReason* part = find_policy_reason(stuck.reason);
  const PolicyReason* rest = going ? find_policy_reason(going->reason) : nullptr;
  return part != nullptr && part->in_part && rest != nullptr &&
         rest->outlook == Outlook::kReconciling;
}

StatusUpdate update_of(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                       GPUClusterPolicyStatus status, std::vector<Condition> conditions,
                       bool labelled = false) {
  status.observed_generation = policy.meta.generation;
  add_stopped(snapshot, policy.meta.generation, conditions);
  status.conditions =
      merge_conditions(policy.status.conditions, std::move(conditions), snapshot.now);
  StatusUpdate update;
  update.object = ref_of(policy);
  update.urgent = !same_verdicts(status.conditions, policy.status.conditions);
  update.differs = status != policy.status;
  update.body = encode_status_patch(policy, status);
  if (update.differs) update.events = policy_events(policy, status, labelled);
  return update;
}

}  // namespace

StatusUpdate compute_policy_status(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                   const PolicyProgress& progress) {
  GPUClusterPolicyStatus status;
  tell_counts(progress.survey, status);
  status.disruption =
      in_seconds(DisruptionCalendar(policy.spec.disruption, snapshot.zones).at(snapshot.now));
  std::vector<Condition> conditions;
  const std::optional<Cause> stuck = policy.meta.deletion_timestamp
                                         ? hindered(snapshot, progress)
                                         : stalled(snapshot, policy, progress);
  const std::optional<Cause> going = unless_stopped(snapshot, progress, moving(policy, progress));
  if (!stuck && !going) {
    add(snapshot, policy, "Ready", "True",
        {reasons::kPoolsInPlace, in_place(snapshot, progress.survey, status, policy)}, conditions);
  } else {
    const bool stalls = stuck && !goes_on(*stuck, going);
    add(snapshot, policy, "Ready", "False", stuck ? *stuck : *going, conditions);
    if (stalls || going->reason != reasons::kOperationsStopped)
      add(snapshot, policy, stalls ? "Stalled" : "Reconciling", "True", stalls ? *stuck : *going,
          conditions);
  }
  if (!snapshot.attention.clock_is_right())
    add(snapshot, policy, reasons::kClockSkewed, "True",
        {reasons::kClockSkewed, "no deadline passes and no window opens: " +
                                    describe_skew(*snapshot.attention.clock_skew)},
        conditions);
  tell_cordoned(snapshot, status);
  if (!policy.meta.deletion_timestamp) {
    tell_health(snapshot, policy, status, conditions);
    tell_measured(snapshot, policy, status, conditions);
    tell_reclaimed(snapshot, policy, status);
  }
  return update_of(snapshot, policy, std::move(status), std::move(conditions),
                   progress.survey.changing == 0);
}

StatusUpdate compute_stuck_status(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                  const Cause& why) {
  std::vector<Condition> conditions;
  add(snapshot, policy, "Ready", "False", why, conditions);
  add(snapshot, policy, "Stalled", "True", why, conditions);
  return update_of(snapshot, policy, policy.status, std::move(conditions));
}

}  // namespace berth
