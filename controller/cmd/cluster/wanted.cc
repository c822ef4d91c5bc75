// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/cluster/wanted.h"

#include "apis/base/names.h"
#include "apis/kinds/core.h"
#include "apis/kinds/gpu_cluster_policy.h"
#include "apis/kinds/gpu_queue.h"
#include "apis/kinds/mig_layout.h"
#include "controller/runtime/leader_election.h"

namespace berth {
namespace {

// Only for a dump's clues (dump/clues.h); no other code reads these kinds.
constexpr KindInfo kDeployments{"apps", "v1", "deployments", "Deployment", true};
constexpr KindInfo kReplicaSets{"apps", "v1", "replicasets", "ReplicaSet", true};
constexpr KindInfo kStatefulSets{"apps", "v1", "statefulsets", "StatefulSet", true};
constexpr KindInfo kEvents{"", "v1", "events", "Event", true};

}  // namespace

std::vector<Wanted> wanted_of_cluster(const Settings& settings) {
  const std::string& agents = settings.agents_namespace;
  const KindInfo config_map = kKind<ConfigMap>;
  const std::string lease = LeaseOptions().name;
  return {
      {.kind = kKind<Node>},
      {.kind = kKind<Pod>},
      {.kind = kKind<PodDisruptionBudget>},
      {.kind = kKind<Job>},
      {.kind = kKind<MIGLayout>, .may_be_missing = true},
      {.kind = kKind<ClusterPolicy>, .may_be_missing = true},
      {.kind = kKind<GPUClusterPolicy>, .optional_for = "pools and windows are left out"},
      {.kind = kKind<GPUQueue>, .optional_for = "queues are left out"},
      {.kind = kKind<Namespace>, .optional_for = "every namespace counts as eligible"},
      {.kind = kKind<PriorityClass>, .optional_for = "all of the policy's count as new"},
      {.kind = kKind<DaemonSet>, .namespace_ = agents},
      {config_map, settings.berth_namespace, names::kSlotsConfigMap, "", true},
      {config_map, settings.berth_namespace, names::kAdmissionsConfigMap, "", true},
      {config_map, settings.berth_namespace, names::kUsageConfigMap, "", true},
      {config_map, settings.berth_namespace, names::kCostsConfigMap, "", true},
      {config_map, agents, settings.mig_config_map, "", true},
      {config_map, agents, "default-mig-parted-config", "", true},
      {config_map, agents, AgentsSpec().device_plugin_config_map, "", true,
       "all keys in it count as new"},
      // The GPU operator generates it for each node.
      {.kind = config_map,
       .namespace_ = agents,
       .label_selector = "app.kubernetes.io/component=nvidia-mig-manager"},
      {.kind = kKind<Lease>,
       .namespace_ = settings.berth_namespace,
       .name = lease,
       .may_be_missing = true,
       .in_silence = true},
  };
}

Wanted wanted_file_of_agents(const Settings& settings, const std::string& name) {
  return {.kind = kKind<ConfigMap>,
          .namespace_ = settings.agents_namespace,
          .name = name,
          .may_be_missing = true,
          .optional_for = "what nodes use of it can't be kept"};
}

std::vector<Wanted> wanted_of_workloads(const std::string& namespace_) {
  return {
      {.kind = kDeployments, .namespace_ = namespace_},
      {.kind = kReplicaSets, .namespace_ = namespace_},
      {.kind = kStatefulSets, .namespace_ = namespace_},
      {.kind = kEvents, .namespace_ = namespace_, .field_selector = "reason=FailedCreate"},
  };
}

}  // namespace berth
