// SPDX-License-Identifier: Apache-2.0
#include "apis/codec/decode_policy.h"

#include "apis/codec/decode_custom.h"
#include "apis/kinds/policy_fields.h"

namespace berth {
namespace {

void read(const JsonCursor& agents, AgentsSpec& out) {
  agents["namespace"].read(out.namespace_);
  agents["migManagerConfigMap"].read(out.mig_manager_config_map);
  agents["extraMigConfigs"]["name"].read(out.extra_mig_configs);
  agents["devicePluginConfigMap"].read(out.device_plugin_config_map);
}

void read(const JsonCursor& sharing, SharingSpec& out) {
  read_enum(sharing["strategy"], out.strategy,
            {SharingStrategy::kNone, SharingStrategy::kTimeSlicing, SharingStrategy::kMPS});
  sharing["replicas"].read(out.replicas);
  sharing["resources"].read(out.resources);
  sharing["renameByDefault"].read(out.rename_by_default);
  JsonCursor fail = sharing["failRequestsGreaterThanOne"];
  if (fail.present()) fail.read(out.fail_requests_greater_than_one.emplace());
}

void read(const JsonCursor& item, PoolSpec& out) {
  item["name"].read(out.name);
  item["nodeSelector"].read(out.node_selector);
  read(item["sharing"], out.sharing);
  if (item["migStrategy"].present()) {
    read_enum(item["migStrategy"], out.mig_strategy.emplace(),
              {PluginMigStrategy::kNone, PluginMigStrategy::kSingle, PluginMigStrategy::kMixed});
  }
  item["labels"].read(out.labels);
  for (const JsonCursor& taint : item["taints"].items()) {
    Taint& read = out.taints.emplace_back();
    taint["key"].read(read.key);
    taint["value"].read(read.value);
    taint["effect"].read(read.effect);
  }
  if (JsonCursor price = item["price"]; price.present()) {
    PriceSpec& read = out.price.emplace();
    price["perGPUHour"].read(read.per_gpu_hour);
    price["currency"].read(read.currency);
  }
  item["eligibleNamespaces"].read(out.eligible_namespaces);
  if (JsonCursor elastic = item["elastic"]; elastic.present())
    elastic["maxNodes"].read(out.elastic.emplace().max_nodes);
}

void read(const JsonCursor& item, PriceRow& out) {
  item["instanceType"].read(out.instance_type);
  item["product"].read(out.product);
  if (item["capacityType"].present())
    read_enum(item["capacityType"], out.capacity_type.emplace(),
              {CapacityType::kOnDemand, CapacityType::kSpot, CapacityType::kReserved});
  item["perGPUHour"].read(out.per_gpu_hour);
  item["perNodeHour"].read(out.per_node_hour);
  item["currency"].read(out.currency);
}

void read(const JsonCursor& admission, AdmissionSpec& out) {
  read_enum(admission["enforcement"], out.enforcement,
            {Enforcement::kEnforce, Enforcement::kWarn, Enforcement::kOff});
  admission["namespaceSelector"].read(out.namespace_selector);
  JsonCursor defaults = admission["defaults"];
  defaults["tolerations"].read(out.defaults.tolerations);
  defaults["poolAffinity"].read(out.defaults.pool_affinity);
  std::string memory;
  defaults["sharedMemory"].read(memory);
  if (Result<Quantity> size = Quantity::parse(memory); !memory.empty() && size)
    out.defaults.shared_memory = *size;
  defaults["securityContext"].read(out.defaults.security_context);
  defaults["priorityClassName"].read(out.defaults.priority_class_name);
  admission["requireQueue"].read(out.require_queue);
  const std::initializer_list<Permission> permissions = {Permission::kRefuse, Permission::kAllow};
  read_enum(admission["daemonSets"], out.daemon_sets, permissions);
  read_enum(admission["resourceClaims"], out.resource_claims, permissions);
  read_enum(admission["podReplacementPolicy"], out.pod_replacement_policy,
            {PodReplacement::kFailed, PodReplacement::kAny});
  admission["maxTerminationGracePeriod"].read(out.max_termination_grace_period);
}

void read(const JsonCursor& list, std::vector<WindowSpec>& out) {
  for (const JsonCursor& item : list.items()) {
    WindowSpec& window = out.emplace_back();
    item["schedule"].read(window.schedule);
    item["duration"].read(window.duration);
    item["timeZone"].read(window.time_zone);
  }
}

void read(const JsonCursor& disruption, DisruptionSpec& out) {
  disruption["maxUnavailable"].read(out.max_unavailable);
  read(disruption["windows"], out.windows);
  read(disruption["blackouts"], out.blackouts);
}

void read(const JsonCursor& idle, IdleSpec& out) {
  idle["utilizationThreshold"].read(out.utilization_threshold);
  idle["gracePeriod"].read(out.grace_period);
  idle["warnAfter"].read(out.warn_after);
  read_enum(
      idle["policy"], out.policy,
      {IdlePolicy::kObserve, IdlePolicy::kNotify, IdlePolicy::kOnPressure, IdlePolicy::kAlways});
  idle["excludeSelector"].read(out.exclude_selector);
}

void read(const JsonCursor& health, HealthSpec& out) {
  health["maxTemperature"].read(out.max_temperature);
  read_enum(health["xid"], out.xid, {XidPolicy::kDefault, XidPolicy::kIgnore});
  health["doubleBitECC"].read(out.double_bit_ecc);
  read_enum(health["action"], out.action,
            {HealthAction::kReport, HealthAction::kCordon, HealthAction::kDrain});
  health["recoverAfter"].read(out.recover_after);
  health["maxUnhealthyFraction"].read(out.max_unhealthy_fraction);
}

void read(const JsonCursor& metrics, MetricsSpec& out) {
  metrics["interval"].read(out.interval);
  JsonCursor prometheus = metrics["prometheus"];
  if (!prometheus.present()) return;
  PrometheusSpec& read = out.prometheus.emplace();
  prometheus["url"].read(read.url);
  prometheus["caBundle"].read(read.ca_bundle);
  prometheus["matchLabels"].read(read.match_labels);
  JsonCursor secret = prometheus["bearerTokenSecretRef"];
  if (!secret.present()) return;
  SecretKeyRef& ref = read.bearer_token_secret_ref.emplace();
  secret["name"].read(ref.name);
  secret["key"].read(ref.key);
}

void read(const JsonCursor& totals, PolicyTotals& out) {
  totals["pools"].read(out.pools);
  totals["nodes"].read(out.nodes);
  totals["gpus"].read(out.gpus);
  totals["allocated"].read(out.allocated);
  if (totals["idleGPUs"].present()) totals["idleGPUs"].read(out.idle_gpus.emplace());
  if (totals["reclaimed"].present()) totals["reclaimed"].read(out.reclaimed.emplace());
  if (totals["unhealthyNodes"].present())
    totals["unhealthyNodes"].read(out.unhealthy_nodes.emplace());
  totals["cordonedNodes"].read(out.cordoned_nodes);
  totals["conflicts"].read(out.conflicts);
  totals["monthlyWaste"].read(out.monthly_waste);
}

void read(const JsonCursor& item, PoolStatus& out) {
  item["name"].read(out.name);
  item["nodes"].read(out.nodes);
  item["gpus"].read(out.gpus);
  item["allocated"].read(out.allocated);
  item["sharedBy"].read(out.shared_by);
  if (item["utilization"].present()) item["utilization"].read(out.utilization.emplace());
  if (item["idleGPUs"].present()) item["idleGPUs"].read(out.idle_gpus.emplace());
  item["monthlyWaste"].read(out.monthly_waste);
}

void read(const JsonCursor& status, GPUClusterPolicyStatus& out) {
  status["observedGeneration"].read(out.observed_generation);
  read(status["totals"], out.totals);
  for (const JsonCursor& item : status["pools"].items()) read(item, out.pools.emplace_back());
  for (const JsonCursor& item : status["conflicts"].items()) {
    PoolConflict& conflict = out.conflicts.emplace_back();
    item["node"].read(conflict.node);
    item["pools"].read(conflict.pools);
  }
  JsonCursor disruption = status["disruption"];
  disruption["open"].read(out.disruption.open);
  disruption["nextOpening"].read(out.disruption.next_opening);
  disruption["closes"].read(out.disruption.closes);
  read_conditions(status["conditions"], out.conditions);
}

}  // namespace

void read_spec(const JsonCursor& spec, GPUClusterPolicySpec& out) {
  read(spec["agents"], out.agents);
  for (const JsonCursor& item : spec["pools"].items()) read(item, out.pools.emplace_back());
  for (const JsonCursor& row : spec["prices"].items()) read(row, out.prices.emplace_back());
  spec["topologyLevels"].read(out.topology_levels);
  for (const JsonCursor& item : spec["resourceCatalog"].items()) {
    CatalogEntry& entry = out.resource_catalog.emplace_back();
    item["name"].read(entry.name);
    item["resource"].read(entry.resource);
    item["eligibleNamespaces"].read(entry.eligible_namespaces);
    item["description"].read(entry.description);
  }
  for (const JsonCursor& item : spec["priorityClasses"].items()) {
    PriorityClassSpec& priority = out.priority_classes.emplace_back();
    item["name"].read(priority.name);
    item["value"].read(priority.value);
  }
  read(spec["admission"], out.admission);
  read(spec["disruption"], out.disruption);
  read(spec["idle"], out.idle);
  read(spec["health"], out.health);
  read(spec["metrics"], out.metrics);
  read_enum(spec["deletionPolicy"], out.deletion_policy,
            {PolicyDeletion::kRetain, PolicyDeletion::kRemove});
  read_enum(spec["operations"], out.operations, {Operations::kNormal, Operations::kStopped});
}

void read(JsonCursor object, GPUClusterPolicy& out) {
  object["metadata"].read(out.meta);
  if (!check_spec(object, policy_spec_field())) return;
  read_spec(object["spec"], out.spec);
  read(object["status"], out.status);
}

}  // namespace berth
