// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/record/gang_adapters.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "apis/base/names.h"

namespace berth::queue {
namespace {

constexpr std::int64_t kMostPods = 1'000'000;  // so that sums over a fleet do not overflow

struct Framework {
  std::string_view kind;
  std::string_view label;     // its value names the set
  std::string_view apart;     // a label that separates several gangs of one set; empty: one gang
  std::string_view size;      // an annotation; empty: its pods state no size
  std::string_view roles[2];  // labels; the first that the pod has counts
};

constexpr std::string_view kWorkerIndex = "leaderworkerset.sigs.k8s.io/worker-index";

constexpr Framework kFrameworks[] = {
    // kubernetes-sigs/lws, api/leaderworkerset/v1/leaderworkerset_types.go: SetNameLabelKey,
    // GroupIndexLabelKey, WorkerIndexLabelKey, SizeAnnotationKey ("the total number of pods in each
    // group"). The leader gets its group's index from pkg/webhooks/pod_webhook.go.
    {.kind = "LeaderWorkerSet",
     .label = "leaderworkerset.sigs.k8s.io/name",
     .apart = "leaderworkerset.sigs.k8s.io/group-index",
     .size = "leaderworkerset.sigs.k8s.io/size",
     .roles = {kWorkerIndex}},
    // kubernetes-sigs/jobset, api/jobset/v1alpha2/jobset_types.go: JobSetNameKey,
    // ReplicatedJobNameKey. ReplicatedJobReplicas and GlobalReplicasKey count Jobs, not pods.
    // Kubeflow Trainer v2 makes JobSets.
    {.kind = "JobSet",
     .label = "jobset.sigs.k8s.io/jobset-name",
     .roles = {"jobset.sigs.k8s.io/replicatedjob-name"}},
    // kubeflow/training-operator, pkg/apis/kubeflow.org/v1/common_types.go, and
    // kubeflow/mpi-operator, pkg/apis/kubeflow/v2beta1/constants.go: JobNameLabel,
    // OperatorNameLabel (a PyTorchJob and an MPIJob may have the same name), ReplicaTypeLabel, and
    // JobRoleLabel, which is the only role label of mpi-operator. The pods state no size.
    {.kind = "Kubeflow",
     .label = "training.kubeflow.org/job-name",
     .apart = "training.kubeflow.org/operator-name",
     .roles = {"training.kubeflow.org/replica-type", "training.kubeflow.org/job-role"}},
    // ray-project/kuberay, ray-operator/controllers/ray/utils/constant.go: RayClusterLabelKey,
    // RayNodeGroupLabelKey ("headgroup" on the head), RayNodeTypeLabelKey. The pods state no size.
    {.kind = "RayCluster",
     .label = "ray.io/cluster",
     .roles = {"ray.io/group", "ray.io/node-type"}},
};

std::int64_t size_at(const ObjectMeta& pod, std::string_view annotation) {
  const Text* text = annotation.empty() ? nullptr : pod.annotations.find(annotation);
  return text == nullptr ? 0 : read_gang_size(text->view());
}

std::string_view label_at(const ObjectMeta& pod, std::string_view key) {
  const Text* text = key.empty() ? nullptr : pod.labels.find(key);
  return text == nullptr ? std::string_view() : text->view();
}

const Framework* framework_of(const ObjectMeta& pod) {
  const auto made_it = [&](const Framework& each) {
    return !label_at(pod, each.label).empty() &&
           (each.apart.empty() || !label_at(pod, each.apart).empty());
  };
  const auto found = std::ranges::find_if(kFrameworks, made_it);
  return found == std::end(kFrameworks) ? nullptr : &*found;
}

// A label's value has no colon, so no group of berth's own can have such a name.
void name_after(const Framework& framework, const ObjectMeta& pod, Gang& gang) {
  const std::string_view set = label_at(pod, framework.label);
  gang.name.append(framework.kind).append(":").append(set);
  gang.maker.append(framework.kind).append(" ").append(set);
  gang.of_framework = true;
  if (framework.apart.empty()) return;
  gang.name.append(":").append(label_at(pod, framework.apart));
}

// The pod with index 0 of a LeaderWorkerSet's group is the leader. All others are workers.
void add_role(const Framework& framework, const ObjectMeta& pod, Gang& gang) {
  for (const std::string_view label : framework.roles)
    if (gang.role.empty()) gang.role = label_at(pod, label);
  if (framework.roles[0] != kWorkerIndex) return;
  const bool leads = gang.role == "0";
  gang.role = leads ? "leader" : "worker";
  if (gang.size > 0 && gang.size == size_at(pod, framework.size))
    gang.role_size = leads ? 1 : gang.size - 1;
}

// Only the StatefulSet of apps/v1: other projects have a kind of this name too. Its pods state no
// size.
const OwnerReference* stateful_set_of(const ObjectMeta& pod) {
  const OwnerReference* owner = pod.controller();
  const bool is =
      owner != nullptr && owner->kind == "StatefulSet" && owner->api_version == "apps/v1";
  return is ? owner : nullptr;
}

}  // namespace

std::int64_t read_gang_size(std::string_view digits) {
  std::int64_t size = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return 0;
  return std::clamp<std::int64_t>(size, 0, kMostPods);
}

Gang gang_of(const ObjectMeta& pod) {
  Gang gang{.size = size_at(pod, names::kPodGroupSizeAnnotation)};
  const std::string_view own = label_at(pod, names::kPodGroupLabel);
  const Framework* framework = framework_of(pod);
  const bool says_all = !own.empty() && gang.size > 0;
  if (framework != nullptr && gang.size == 0) gang.size = size_at(pod, framework->size);
  if (says_all || (!own.empty() && framework == nullptr)) {
    gang.name = own;
    gang.maker.append("group ").append(own);
  } else if (framework != nullptr) {
    name_after(*framework, pod, gang);
  } else if (const OwnerReference* set = stateful_set_of(pod)) {
    gang.name = "StatefulSet:" + set->name.str();
    gang.maker = "StatefulSet " + set->name.str();
    gang.of_framework = true;
  } else {
    return {};
  }
  if (framework != nullptr) add_role(*framework, pod, gang);
  if (const std::int64_t said = size_at(pod, names::kPodRoleSizeAnnotation); said > 0)
    gang.role_size = said;
  gang.fast = pod.annotations.get(names::kFastAdmissionAnnotation) == "true";
  return gang;
}

}  // namespace berth::queue
