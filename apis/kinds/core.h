// SPDX-License-Identifier: Apache-2.0
// Core: the slices of Kubernetes' own kinds that berth reads. A slice holds only what decisions
// need: with fifty thousand pods, every field costs megabytes. The decoders (decode.h) fill them
// and ignore unknown fields.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apis/base/gpus_in.h"
#include "apis/base/quantity.h"
#include "apis/base/selector.h"
#include "apis/kinds/meta.h"
#include "apis/kinds/pod_shape.h"

namespace berth {

struct Taint {
  Text key;
  Text value;
  Text effect;  // NoSchedule | PreferNoSchedule | NoExecute
  bool operator==(const Taint&) const = default;
};

bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint);

struct Node {
  ObjectMeta meta;  // annotations: gpu.berth.dev/*, marks of autoscalers
  // spec.unschedulable. A JSON patch test distinguishes absent from false, so berth keeps both.
  std::optional<bool> unschedulable;
  std::vector<Taint> taints;
  ResourceList capacity;
  ResourceList allocatable;
  bool ready = false;        // condition Ready is True
  StringMap gpu_conditions;  // those in gpu_conditions.h that are bad: type and reason
  Text boot_id;              // status.nodeInfo.bootID: changes with every reboot

  bool cordoned() const { return unschedulable.value_or(false); }
  bool operator==(const Node&) const = default;
};
template <>
inline constexpr KindInfo kKind<Node>{"", "v1", "nodes", "Node", false};

enum class PodPhase : std::uint8_t { kPending, kRunning, kSucceeded, kFailed, kUnknown };

struct Pod {
  ObjectMeta
      meta;  // annotations: gpu.berth.dev/*, kubernetes.io/config.mirror, do-not-disrupt marks
  PodShape shape;
  Text node_name;  // empty: not bound
  PodPhase phase = PodPhase::kPending;
  bool has_empty_dir = false;
  bool never_restarts = false;  // restartPolicy Never: containers that end do not restart
  bool has_been_ready = false;  // condition Ready is True, or was once
  std::int64_t termination_grace_period_seconds = 30;
  std::optional<Time> start_time;
  // The kubelet's reason for a problem of the pod, such as "TopologyAffinityError", or the reason
  // for which its first container waits, such as "CrashLoopBackOff". Empty: no problem, or the pod
  // is about to start.
  Text trouble;
  Text address;  // status.podIP, only of dcgm-exporter's pods (exporter_pod.h); empty: none yet

  bool finished() const { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }
  bool terminating() const { return meta.deletion_timestamp.has_value(); }
  bool operator==(const Pod&) const = default;
};
template <>
inline constexpr KindInfo kKind<Pod>{"", "v1", "pods", "Pod", true};

// True if the pod requests a GPU resource (gpu_resource.h) or a DRA claim, so that it may hold a
// device. Requests of zero do not count.
bool uses_gpu(const Pod& pod);

struct PodDisruptionBudget {
  ObjectMeta meta;
  std::optional<LabelSelector>
      selector;  // policy/v1: absent selects nothing, {} selects every pod of the namespace
  std::int32_t disruptions_allowed = 0;
  std::int32_t current_healthy = 0;
  std::int32_t desired_healthy = 0;
  std::int32_t expected_pods = 0;
  std::int64_t observed_generation = 0;
  bool selects(const Pod& pod) const;
  bool operator==(const PodDisruptionBudget&) const = default;
};
template <>
inline constexpr KindInfo kKind<PodDisruptionBudget>{"policy", "v1", "poddisruptionbudgets",
                                                     "PodDisruptionBudget", true};

struct Job {
  ObjectMeta meta;  // the same annotations as of Pods
  bool suspended = false;
  bool indexed = false;            // completionMode Indexed
  std::int32_t backoff_limit = 6;  // the server's default
  std::int32_t parallelism = 1;
  std::optional<std::int32_t> completions;  // absent: any one success is enough
  std::optional<std::int64_t> active_deadline_seconds;
  // podFailurePolicy has a rule with action Ignore on condition DisruptionTarget: an eviction does
  // not count as a failure.
  bool ignores_disruptions = false;
  bool has_failure_policy = false;   // podFailurePolicy: podReplacementPolicy must be Failed
  bool replaces_ended_only = false;  // podReplacementPolicy Failed: not while a pod terminates
  PodShape pod_shape;                // of the pod template; its priority is unknown, only the class
  Text priority_class_name;          // of the pod template

  std::int32_t active = 0;  // pods that are neither finished nor terminating
  std::int32_t ready = 0;
  std::int32_t terminating = 0;
  std::int32_t succeeded = 0;
  std::int32_t failed = 0;
  std::int32_t uncounted = 0;      // pods that have ended and are in neither count yet
  std::optional<Time> start_time;  // absent while it is suspended
  // condition Suspended is True: the Job controller has deleted its pods
  bool has_been_suspended = false;
  bool finished = false;            // condition Complete or Failed is True
  std::optional<Time> finished_at;  // when that condition became True
  Text failure;  // the start of the server's message; empty: the Job has not failed
  bool operator==(const Job&) const = default;
};
template <>
inline constexpr KindInfo kKind<Job>{"batch", "v1", "jobs", "Job", true};

struct ConfigMap {
  ObjectMeta meta;
  std::map<std::string, std::string> data;
  bool operator==(const ConfigMap&) const = default;
};
template <>
inline constexpr KindInfo kKind<ConfigMap>{"", "v1", "configmaps", "ConfigMap", true};

// What berth checks about NVIDIA's node components: the ConfigMaps that mig-manager mounts, and the
// nodes on which it may run.
struct DaemonSet {
  ObjectMeta meta;
  std::vector<Text> config_map_volumes;  // names of the ConfigMaps that the pod template mounts
  StringMap node_selector;
  std::vector<Toleration> tolerations;
  bool operator==(const DaemonSet&) const = default;
};
template <>
inline constexpr KindInfo kKind<DaemonSet>{"apps", "v1", "daemonsets", "DaemonSet", true};

// NVIDIA's ClusterPolicy (nvidia.com/v1), a custom resource that may be absent.
struct ClusterPolicy {
  ObjectMeta meta;
  std::string mig_strategy;  // spec.mig.strategy: none | single | mixed; empty: the plugin decides
  std::string
      mig_manager_config_map;  // spec.migManager.config.name; empty: generated from hardware
  std::string device_plugin_config_map;  // spec.devicePlugin.config.name; empty: it reads no file
  // spec.devicePlugin.config.default, a key of that ConfigMap
  std::string device_plugin_default_config;
  // spec.daemonsets.tolerations; absent: the operator's default, nvidia.com/gpu Exists NoSchedule.
  std::vector<Toleration> operand_tolerations;
  bool operator==(const ClusterPolicy&) const = default;
};
template <>
inline constexpr KindInfo kKind<ClusterPolicy>{"nvidia.com", "v1", "clusterpolicies",
                                               "ClusterPolicy", false};

struct Namespace {
  ObjectMeta meta;
  bool operator==(const Namespace&) const = default;
};
template <>
inline constexpr KindInfo kKind<Namespace>{"", "v1", "namespaces", "Namespace", false};

struct PriorityClass {
  ObjectMeta meta;
  std::int32_t value = 0;
  bool global_default = false;
  Text preemption_policy;  // Never | PreemptLowerPriority
  bool operator==(const PriorityClass&) const = default;
};
template <>
inline constexpr KindInfo kKind<PriorityClass>{"scheduling.k8s.io", "v1", "priorityclasses",
                                               "PriorityClass", false};

struct Lease {
  ObjectMeta meta;
  std::string holder_identity;  // empty: free
  std::int32_t lease_duration_seconds = 0;
  std::optional<Time> acquire_time;
  std::optional<Time> renew_time;
  std::int32_t lease_transitions = 0;
  bool operator==(const Lease&) const = default;
};
template <>
inline constexpr KindInfo kKind<Lease>{"coordination.k8s.io", "v1", "leases", "Lease", true};

}  // namespace berth
