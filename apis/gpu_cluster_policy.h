// SPDX-License-Identifier: Apache-2.0
// GPUClusterPolicy (gpu.berth.dev/v1alpha1): which nodes form which pool, how their GPUs are
// shared, who may use them, and what bounds every action that takes a node away. There is one,
// `cluster`. Field meanings are told once, in crds/gpu.berth.dev_gpuclusterpolicies.yaml, for
// `kubectl explain`; defaults and bounds live once, here and in policy_fields.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apis/core.h"
#include "apis/int_or_percent.h"
#include "apis/meta.h"
#include "apis/quantity.h"
#include "apis/selector.h"

namespace berth {

// Where NVIDIA's node agents are, whoever installed them.
struct AgentsSpec {
  std::string namespace_ = "gpu-operator";
  std::string mig_manager_config_map = "berth-mig-parted-config";
  std::string extra_mig_configs;  // a ConfigMap of other people's layouts; empty: none
  std::string device_plugin_config_map = "berth-device-plugin-config";
  bool operator==(const AgentsSpec&) const = default;
};

enum class SharingStrategy { kNone, kTimeSlicing, kMPS };
enum class PluginMigStrategy { kNone, kSingle, kMixed };

struct SharingSpec {
  SharingStrategy strategy = SharingStrategy::kNone;
  std::int32_t replicas = 0;           // 0 with kNone only
  std::vector<std::string> resources;  // empty: nvidia.com/gpu
  bool rename_by_default = false;
  std::optional<bool> fail_requests_greater_than_one;  // absent: as the plugin does
  bool operator==(const SharingSpec&) const = default;
};

struct PriceSpec {
  std::string per_gpu_hour;  // a decimal, as written
  std::string currency = "USD";
  bool operator==(const PriceSpec&) const = default;
};

enum class CapacityType { kOnDemand, kSpot, kReserved };

// What a cloud sells: a row fits a node of which all that it names is true.
struct PriceRow {
  std::string instance_type;                  // label node.kubernetes.io/instance-type; empty: any
  std::string product;                        // of its GPUs, as nvidia.com/gpu.product; empty: any
  std::optional<CapacityType> capacity_type;  // absent: any
  std::string per_gpu_hour;                   // one of the two, the other is empty
  std::string per_node_hour;
  std::string currency = "USD";
  bool operator==(const PriceRow&) const = default;
};

struct ElasticSpec {  // an autoscaler adds nodes to the pool
  std::int64_t max_nodes = 0;
  bool operator==(const ElasticSpec&) const = default;
};

struct PoolSpec {
  std::string name;
  LabelSelector node_selector;
  SharingSpec sharing;
  std::optional<PluginMigStrategy> mig_strategy;  // absent: as the plugin is set up
  StringMap labels;
  std::vector<Taint> taints;
  std::optional<PriceSpec> price;
  std::optional<LabelSelector> eligible_namespaces;  // absent: every namespace
  std::optional<ElasticSpec> elastic;                // absent: the nodes that are there are all
  bool operator==(const PoolSpec&) const = default;
};

struct CatalogEntry {
  std::string name;
  std::string resource;
  std::optional<LabelSelector> eligible_namespaces;  // absent: every namespace
  std::string description;
  bool operator==(const CatalogEntry&) const = default;
};

struct PriorityClassSpec {
  std::string name;
  std::int32_t value = 0;
  bool operator==(const PriorityClassSpec&) const = default;
};

enum class Enforcement { kEnforce, kWarn, kOff };

struct AdmissionDefaults {
  bool tolerations = true;
  bool pool_affinity = true;
  std::optional<Quantity> shared_memory;  // absent: no /dev/shm is added
  bool security_context = false;
  std::string priority_class_name;  // empty: none is set
  bool operator==(const AdmissionDefaults&) const = default;
};

// Of what passes the queues, or what berth does not count.
enum class Permission { kRefuse, kAllow };
// When a Job of a queue replaces a pod: once it has ended, or as the Job says.
enum class PodReplacement { kFailed, kAny };

struct AdmissionSpec {
  Enforcement enforcement = Enforcement::kEnforce;
  std::optional<LabelSelector> namespace_selector;  // absent: gpu.berth.dev/managed=true
  AdmissionDefaults defaults;
  bool require_queue = false;
  Permission daemon_sets = Permission::kRefuse;  // those whose pods ask for GPUs
  Permission resource_claims = Permission::kRefuse;
  PodReplacement pod_replacement_policy = PodReplacement::kFailed;
  Duration max_termination_grace_period = std::chrono::hours(1);
  bool operator==(const AdmissionSpec&) const = default;
};

// Opens whenever the schedule fires on the clocks of the time zone, and stays open for the
// duration.
struct WindowSpec {
  std::string schedule;  // cron's five fields, see cron.h
  Duration duration{};
  std::string time_zone = "UTC";
  bool operator==(const WindowSpec&) const = default;
};

struct DisruptionSpec {
  IntOrPercent max_unavailable{10, true};
  std::vector<WindowSpec> windows;    // empty: any time
  std::vector<WindowSpec> blackouts;  // beat windows
  bool operator==(const DisruptionSpec&) const = default;
};

enum class IdlePolicy { kObserve, kNotify, kOnPressure, kAlways };

struct IdleSpec {
  std::int32_t utilization_threshold = 5;  // percent
  Duration grace_period = std::chrono::minutes(30);
  Duration warn_after = std::chrono::minutes(10);
  IdlePolicy policy = IdlePolicy::kObserve;
  std::optional<LabelSelector> exclude_selector;  // absent: no pod is excluded
  bool operator==(const IdleSpec&) const = default;
};

enum class XidPolicy { kDefault, kIgnore };
enum class HealthAction { kReport, kCordon, kDrain };

struct HealthSpec {
  std::int32_t max_temperature = 85;  // degrees Celsius
  XidPolicy xid = XidPolicy::kDefault;
  bool double_bit_ecc = true;
  HealthAction action = HealthAction::kReport;
  Duration recover_after = std::chrono::minutes(15);
  IntOrPercent max_unhealthy_fraction{20, true};
  bool operator==(const HealthSpec&) const = default;
};

struct SecretKeyRef {  // in berth's own namespace
  std::string name;
  std::string key = "token";
  bool operator==(const SecretKeyRef&) const = default;
};

struct PrometheusSpec {
  std::string url;
  std::optional<SecretKeyRef> bearer_token_secret_ref;
  std::string ca_bundle;  // base64 of PEM; empty: the system's authorities
  // Labels that a series must have to count; empty: namespace is that of NVIDIA's agents.
  StringMap match_labels;
  bool operator==(const PrometheusSpec&) const = default;
};

struct MetricsSpec {
  std::optional<PrometheusSpec> prometheus;
  Duration interval = std::chrono::seconds(30);
  bool operator==(const MetricsSpec&) const = default;
};

// What becomes of the nodes when the policy is deleted: their labels, taints and sharing stay, or
// go within the policy's budget and windows, as what an edit takes away always does.
enum class PolicyDeletion { kRetain, kRemove };
// Stopped: berth begins nothing that takes a node or a pod away.
enum class Operations { kNormal, kStopped };

struct GPUClusterPolicySpec {
  AgentsSpec agents;
  std::vector<PoolSpec> pools;               // a node belongs to the first that selects it
  std::vector<PriceRow> prices;              // the first that fits a node, else its pool's
  std::vector<std::string> topology_levels;  // label keys, widest first
  std::vector<CatalogEntry> resource_catalog;
  std::vector<PriorityClassSpec> priority_classes;
  AdmissionSpec admission;
  DisruptionSpec disruption;
  IdleSpec idle;
  HealthSpec health;
  MetricsSpec metrics;
  PolicyDeletion deletion_policy = PolicyDeletion::kRetain;
  Operations operations = Operations::kNormal;
  bool operator==(const GPUClusterPolicySpec&) const = default;
};

struct PoolStatus {
  std::string name;
  std::int32_t nodes = 0;
  std::int64_t gpus = 0;
  std::int64_t allocated = 0;
  std::int32_t shared_by = 1;               // pods that may share one GPU
  std::optional<std::int32_t> utilization;  // percent; absent: not measured
  std::optional<std::int64_t> idle_gpus;    // absent: not measured
  std::string monthly_waste;  // in the pool's currency; empty: no price, or not measured
  bool operator==(const PoolStatus&) const = default;
};

struct PolicyTotals {  // over all pools
  std::int32_t pools = 0;
  std::int32_t nodes = 0;
  std::int64_t gpus = 0;
  std::int64_t allocated = 0;
  std::optional<std::int64_t> idle_gpus;        // absent: not measured
  std::optional<std::int64_t> reclaimed;        // absent: the policy takes nothing back
  std::optional<std::int32_t> unhealthy_nodes;  // absent: not measured
  std::int32_t cordoned_nodes = 0;              // by berth, for their health
  std::int32_t conflicts = 0;
  std::string monthly_waste;  // "37000 USD", one per currency; empty: unknown
  bool operator==(const PolicyTotals&) const = default;
};

struct PoolConflict {
  std::string node;
  std::vector<std::string> pools;  // in the spec's order: the first has the node
  bool operator==(const PoolConflict&) const = default;
};

struct DisruptionStatus {
  bool open = true;                  // whether nodes may be taken now
  std::optional<Time> next_opening;  // absent while open, or where nothing opens again
  std::optional<Time> closes;        // absent while closed, or where it stays open
  bool operator==(const DisruptionStatus&) const = default;
};

struct GPUClusterPolicyStatus {
  std::int64_t observed_generation = 0;
  PolicyTotals totals;
  std::vector<PoolStatus> pools;
  std::vector<PoolConflict> conflicts;  // at most 100
  DisruptionStatus disruption;
  std::vector<Condition> conditions;  // Ready always; Reconciling and Stalled only while True
  bool operator==(const GPUClusterPolicyStatus&) const = default;
};

struct GPUClusterPolicy {
  ObjectMeta meta;
  GPUClusterPolicySpec spec;
  GPUClusterPolicyStatus status;
  bool operator==(const GPUClusterPolicy&) const = default;
};
template <>
inline constexpr KindInfo kKind<GPUClusterPolicy>{"gpu.berth.dev", "v1alpha1", "gpuclusterpolicies",
                                                  "GPUClusterPolicy", false};

const char* to_string(SharingStrategy value);
const char* to_string(PluginMigStrategy value);
const char* to_string(CapacityType value);
const char* to_string(Enforcement value);
const char* to_string(Permission value);
const char* to_string(PodReplacement value);
const char* to_string(IdlePolicy value);
const char* to_string(XidPolicy value);
const char* to_string(HealthAction value);
const char* to_string(PolicyDeletion value);
const char* to_string(Operations value);

// Bounds, as the CRD states them; a test keeps the two equal.
namespace limits {
inline constexpr char kPolicyName[] = "cluster";
inline constexpr std::int64_t kMaxPools = 64;
inline constexpr std::int64_t kMaxPoolName = 40;  // with a hash it becomes a node label's value
inline constexpr std::int64_t kMaxPoolLabels = 16;
inline constexpr std::int64_t kMaxPoolTaints = 8;
inline constexpr std::int64_t kMaxSharedResources = 16;
inline constexpr std::int32_t kMaxReplicas = 64;
inline constexpr std::int32_t kMaxMpsReplicas = 48;  // clients of one MPS daemon, since Volta
inline constexpr std::int64_t kMaxPrices = 64;
inline constexpr std::int64_t kMaxTopologyLevels = 8;
inline constexpr std::int64_t kMaxCatalogEntries = 64;
inline constexpr std::int64_t kMaxPriorityClasses = 32;
inline constexpr std::int64_t kMaxPriority = 1'000'000'000;  // above it is Kubernetes' own
inline constexpr std::int64_t kMaxWindows = 16;              // of windows, and of blackouts
inline constexpr std::int64_t kMaxCaBundle = 65'536;         // characters of base64
inline constexpr std::int64_t kMaxElasticNodes = 100'000;
inline constexpr std::int64_t kMaxMatchLabels = 8;
inline constexpr std::size_t kMaxConflicts = 100;
}  // namespace limits

// The cross-field rules the CRD states in CEL, in the same words, and those that CEL cannot say:
// what a cron schedule may be. {} when the object obeys them all.
std::vector<Error> check_rules(const GPUClusterPolicy& policy);

// The status as the API writes it, for a merge patch on the status subresource.
std::string encode_status(const GPUClusterPolicyStatus& status);
// The whole body of that merge patch of the object as it was read: only that version of it takes
// the status. What the status no longer says is set to null, or the server would keep it.
std::string encode_status_patch(const GPUClusterPolicy& read, const GPUClusterPolicyStatus& after);

}  // namespace berth
