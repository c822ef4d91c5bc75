// SPDX-License-Identifier: Apache-2.0
// GPUClusterPolicy (gpu.berth.dev/v1alpha1): which nodes form which pool, how pods share GPUs, who
// may use them, and the limits for every action that takes a node out of service. A cluster has
// one, named `cluster`. crds/gpu.berth.dev_gpuclusterpolicies.yaml describes the fields for
// `kubectl explain`. Defaults and bounds are here and in policy_fields.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apis/base/int_or_percent.h"
#include "apis/base/quantity.h"
#include "apis/base/selector.h"
#include "apis/kinds/core.h"
#include "apis/kinds/meta.h"

namespace berth {

// The namespace and the names of NVIDIA's node components, with or without the GPU operator.
struct AgentsSpec {
  std::string namespace_ = "gpu-operator";
  std::string mig_manager_config_map = "berth-mig-parted-config";
  std::string extra_mig_configs;  // a ConfigMap with additional MIG layouts; empty: none
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
  std::optional<bool> fail_requests_greater_than_one;  // absent: the plugin's default
  bool operator==(const SharingSpec&) const = default;
};

struct PriceSpec {
  std::string per_gpu_hour;  // a decimal, as written
  std::string currency = "USD";
  bool operator==(const PriceSpec&) const = default;
};

enum class CapacityType { kOnDemand, kSpot, kReserved };

// One row of a price list. It fits a node if every field that is set matches.
struct PriceRow {
  std::string instance_type;                  // label node.kubernetes.io/instance-type; empty: any
  std::string product;                        // nvidia.com/gpu.product of its GPUs; empty: any
  std::optional<CapacityType> capacity_type;  // absent: any
  std::string per_gpu_hour;                   // exactly one of the two prices is set
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
  std::optional<PluginMigStrategy> mig_strategy;  // absent: as the plugin is configured
  StringMap labels;
  std::vector<Taint> taints;
  std::optional<PriceSpec> price;
  std::optional<LabelSelector> eligible_namespaces;  // absent: every namespace
  std::optional<ElasticSpec> elastic;                // absent: no autoscaler adds nodes
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

// For workloads that bypass the queues, or that berth does not count.
enum class Permission { kRefuse, kAllow };
// When a Job of a queue replaces a pod: only after the pod has ended, or as the Job says.
enum class PodReplacement { kFailed, kAny };

struct AdmissionSpec {
  Enforcement enforcement = Enforcement::kEnforce;
  std::optional<LabelSelector> namespace_selector;  // absent: gpu.berth.dev/managed=true
  AdmissionDefaults defaults;
  bool require_queue = false;
  Permission daemon_sets = Permission::kRefuse;  // for DaemonSets whose pods request GPUs
  Permission resource_claims = Permission::kRefuse;
  PodReplacement pod_replacement_policy = PodReplacement::kFailed;
  Duration max_termination_grace_period = std::chrono::hours(1);
  bool operator==(const AdmissionSpec&) const = default;
};

// Opens when the schedule matches the local time of the time zone, and stays open for the duration.
struct WindowSpec {
  std::string schedule;  // five cron fields, see cron.h
  Duration duration{};
  std::string time_zone = "UTC";
  bool operator==(const WindowSpec&) const = default;
};

struct DisruptionSpec {
  IntOrPercent max_unavailable{10, true};
  std::vector<WindowSpec> windows;    // empty: any time
  std::vector<WindowSpec> blackouts;  // take precedence over windows
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
  // Labels that a series must have. Empty: its namespace must be that of NVIDIA's node components.
  StringMap match_labels;
  bool operator==(const PrometheusSpec&) const = default;
};

struct MetricsSpec {
  std::optional<PrometheusSpec> prometheus;
  Duration interval = std::chrono::seconds(30);
  bool operator==(const MetricsSpec&) const = default;
};

// The fate of the nodes' labels, taints and sharing when the policy is deleted. kRetain keeps them.
// kRemove removes them within the policy's budget and windows, like an edit of the policy.
enum class PolicyDeletion { kRetain, kRemove };
// kStopped: berth starts nothing that takes a node out of service or evicts a pod.
enum class Operations { kNormal, kStopped };

struct GPUClusterPolicySpec {
  AgentsSpec agents;
  std::vector<PoolSpec> pools;   // the first pool that selects a node has it
  std::vector<PriceRow> prices;  // the first row that fits a node counts, else the pool's price
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
  std::optional<std::int64_t> reclaimed;        // absent: the policy reclaims nothing
  std::optional<std::int32_t> unhealthy_nodes;  // absent: not measured
  std::int32_t cordoned_nodes = 0;              // cordoned by berth because of their health
  std::int32_t conflicts = 0;
  std::string monthly_waste;  // "37000 USD", one per currency; empty: unknown
  bool operator==(const PolicyTotals&) const = default;
};

struct PoolConflict {
  std::string node;
  std::vector<std::string> pools;  // in the spec's order: the first one has the node
  bool operator==(const PoolConflict&) const = default;
};

struct DisruptionStatus {
  bool open = true;                  // whether berth may take nodes out of service now
  std::optional<Time> next_opening;  // absent while open, or if no window opens again
  std::optional<Time> closes;        // absent while closed, or if it stays open
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

// The CRD has the same bounds; a test compares them.
namespace limits {
inline constexpr char kPolicyName[] = "cluster";
inline constexpr std::int64_t kMaxPools = 64;
inline constexpr std::int64_t kMaxPoolName = 40;  // with a hash it is a node label's value
inline constexpr std::int64_t kMaxPoolLabels = 16;
inline constexpr std::int64_t kMaxPoolTaints = 8;
inline constexpr std::int64_t kMaxSharedResources = 16;
inline constexpr std::int32_t kMaxReplicas = 64;
inline constexpr std::int32_t kMaxMpsReplicas = 48;  // clients of one MPS daemon, since Volta
inline constexpr std::int64_t kMaxPrices = 64;
inline constexpr std::int64_t kMaxTopologyLevels = 8;
inline constexpr std::int64_t kMaxCatalogEntries = 64;
inline constexpr std::int64_t kMaxPriorityClasses = 32;
inline constexpr std::int64_t kMaxPriority = 1'000'000'000;  // Kubernetes reserves higher values
inline constexpr std::int64_t kMaxWindows = 16;              // for windows, and for blackouts
inline constexpr std::int64_t kMaxCaBundle = 65'536;         // base64 characters
inline constexpr std::int64_t kMaxElasticNodes = 100'000;
inline constexpr std::int64_t kMaxMatchLabels = 8;
inline constexpr std::size_t kMaxConflicts = 100;
}  // namespace limits

// The CRD's cross-field rules in CEL, in the same words, and those that CEL can't express, such as
// the grammar of cron schedules. {} if the object obeys all of them.
std::vector<Error> check_rules(const GPUClusterPolicy& policy);

// The status as JSON of the API, for a merge patch on the status subresource.
std::string encode_status(const GPUClusterPolicyStatus& status);
// The whole body of that merge patch. Its precondition is the resourceVersion of `read`. It sets
// fields that are no longer in the status to null, because the server would keep them otherwise.
std::string encode_status_patch(const GPUClusterPolicy& read, const GPUClusterPolicyStatus& after);

}  // namespace berth
