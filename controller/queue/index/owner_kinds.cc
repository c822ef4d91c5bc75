// SPDX-License-Identifier: Apache-2.0
// Outline: the table; the controller's JSON; the answer by each rule; the sentences.
#include "controller/queue/index/owner_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/base/names.h"

namespace berth::queue {
namespace {

using nlohmann::json;

// A Job of batch/v1 is not here: it counts an eviction as one failure of backoffLimit, and both
// numbers are in the cache (remakers.h). The Jobs of a JobSet, and so of a TrainJob, are judged in
// the same way: berth does not spend a JobSet's maxRestarts. The pods of a LeaderWorkerSet belong
// to StatefulSets.
constexpr OwnerKind kKinds[] = {
    // kubernetes/kubernetes, pkg/controller: these allow only restartPolicy Always.
    {.info = {"apps", "v1", "replicasets", "ReplicaSet", true}},
    {.info = {"apps", "v1", "statefulsets", "StatefulSet", true}},
    {.info = {"apps", "v1", "daemonsets", "DaemonSet", true}},
    {.info = {"", "v1", "replicationcontrollers", "ReplicationController", true}},
    // kubeflow/training-operator, pkg/apis/kubeflow.org/v1: the constants …DefaultRestartPolicy.
    // pkg/controller.v1/common/pod.go: with Never, one failed pod fails the job. With ExitCode, the
    // controller re-creates a pod whose container ended by a signal, as it does in an eviction.
    {.info = {"kubeflow.org", "v1", "tfjobs", "TFJob", true},
     .then = AfterEviction::kByPolicy,
     .path = "tfReplicaSpecs",
     .absent = "Never"},
    {.info = {"kubeflow.org", "v1", "pytorchjobs", "PyTorchJob", true},
     .then = AfterEviction::kByPolicy,
     .path = "pytorchReplicaSpecs",
     .absent = "OnFailure"},
    {.info = {"kubeflow.org", "v1", "mpijobs", "MPIJob", true},
     .then = AfterEviction::kByPolicy,
     .path = "mpiReplicaSpecs",
     .absent = "Never"},
    {.info = {"kubeflow.org", "v1", "xgboostjobs", "XGBoostJob", true},
     .then = AfterEviction::kByPolicy,
     .path = "xgbReplicaSpecs",
     .absent = "Never"},
    {.info = {"kubeflow.org", "v1", "paddlejobs", "PaddleJob", true},
     .then = AfterEviction::kByPolicy,
     .path = "paddleReplicaSpecs",
     .absent = "OnFailure"},
    {.info = {"kubeflow.org", "v1", "jaxjobs", "JAXJob", true},
     .then = AfterEviction::kByPolicy,
     .path = "jaxReplicaSpecs",
     .absent = "Never"},
    // kubeflow/mpi-operator, pkg/controller/mpi_job_controller.go: getOrCreateWorker creates
    // missing workers. The launcher is a Job: without workers it fails until its retries are used
    // up.
    {.info = {"kubeflow.org", "v2beta1", "mpijobs", "MPIJob", true},
     .then = AfterEviction::kWithLauncher,
     .path = "mpiReplicaSpecs"},
    // ray-project/kuberay, ray-operator/controllers/ray: a RayCluster re-creates its head and
    // workers. The submitter of a RayJob fails without a head, and then the RayJob fails.
    {.info = {"ray.io", "v1", "rayclusters", "RayCluster", true},
     .then = AfterEviction::kUnlessOwned,
     .path = "RayJob"},
};

std::string_view group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

std::string name_of_owner(const OwnedPod& pod) {
  return fmt::format("{} {}/{}", pod.owner.kind.view(), pod.namespace_, pod.owner.name.view());
}

std::string name_of_resource(const OwnerKind& kind) {
  return fmt::format("{}.{}", kind.info.plural, kind.info.group);
}

// Returns a null value if the member does not exist.
const json& member_at(const json& object, std::string_view key) {
  static const json kNone;
  if (!object.is_object()) return kNone;
  const auto found = object.find(key);
  return found == object.end() ? kNone : *found;
}

std::string text_at(const json& object, std::string_view key) {
  const json& value = member_at(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// --- the rules ---

std::optional<std::string> fails_by_policy(const OwnerKind& kind, const OwnedPod& pod,
                                           const json& owner) {
  const json& roles = member_at(member_at(owner, "spec"), kind.path);
  if (!roles.is_object()) return fmt::format("{} has no spec.{}", name_of_owner(pod), kind.path);
  for (const auto& [role, spec] : roles.items()) {
    if (!pod.role.empty() && !equals_ignoring_case(role, pod.role)) continue;
    std::string policy = text_at(spec, "restartPolicy");
    const char* by_default = policy.empty() ? " by default" : "";
    if (policy.empty()) policy = kind.absent;
    if (policy == "OnFailure" || policy == "Always" || policy == "ExitCode") {
      if (pod.role.empty()) continue;
      return std::nullopt;
    }
    return fmt::format(
        "{0} would fail without pod {1}: restartPolicy is {2}{3} at spec.{4}.{5}; delete the {6}, "
        "or create it with OnFailure",
        name_of_owner(pod), pod.name, policy, by_default, kind.path, role, kind.info.kind);
  }
  if (pod.role.empty() && !roles.empty()) return std::nullopt;
  return fmt::format("{} has no role {} of pod {} at spec.{}", name_of_owner(pod), pod.role,
                     pod.name, kind.path);
}

std::optional<std::string> fails_if_owned(const OwnerKind& kind, const OwnedPod& pod,
                                          const json& owner) {
  const json& references = member_at(member_at(owner, "metadata"), "ownerReferences");
  if (!references.is_array()) return std::nullopt;
  for (const json& above : references) {
    if (member_at(above, "controller") != true || text_at(above, "kind") != kind.path) continue;
    return fmt::format(
        "{0} {1}/{2} would fail: it submits its program to {3}, whose pod {4} would go; delete the "
        "{0} to free its GPUs",
        kind.path, pod.namespace_, text_at(above, "name"), name_of_owner(pod), pod.name);
  }
  return std::nullopt;
}

bool asks_for_gpus(const json& pod_template) {
  const json& containers = member_at(member_at(pod_template, "spec"), "containers");
  if (!containers.is_array()) return false;
  return std::ranges::any_of(containers, [](const json& container) {
    const json& limits = member_at(member_at(container, "resources"), "limits");
    if (!limits.is_object()) return false;
    return std::ranges::any_of(limits.items(), [](const auto& limit) {
      return std::string_view(limit.key()).starts_with("nvidia.com/");
    });
  });
}

std::optional<std::string> fails_without_launcher(const OwnerKind& kind, const OwnedPod& pod,
                                                  const json& owner) {
  const json& launcher = member_at(member_at(member_at(owner, "spec"), kind.path), "Launcher");
  const json& pods = member_at(launcher, "template");
  const json& labels = member_at(member_at(pods, "metadata"), "labels");
  const bool queued = !text_at(labels, names::kQueueLabel).empty();
  if (!launcher.is_object() || queued || asks_for_gpus(pods)) return std::nullopt;
  return fmt::format(
      "{0} would fail: its launcher is in no queue and would run on without pod {1}; label "
      "spec.{2}.Launcher.template with {3}",
      name_of_owner(pod), pod.name, kind.path, names::kQueueLabel);
}

std::string unread(const OwnerKind& kind, const OwnedPod& pod, const Error& error) {
  if (error.kind == ErrorKind::kForbidden)
    return fmt::format(
        "berth may not read {0}, which decides whether it creates pod {1} again; grant get on {2} "
        "to berth's ServiceAccount",
        name_of_owner(pod), pod.name, name_of_resource(kind));
  return fmt::format("{} is not there to create pod {} again; delete the pod to free its GPUs",
                     name_of_owner(pod), pod.name);
}

}  // namespace

std::span<const OwnerKind> owner_kinds() { return kKinds; }

// Prefers the version that the reference names. Any other version of the kind will do, because the
// API server converts it.
const OwnerKind* find_owner_kind(const OwnerReference& owner) {
  const OwnerKind* of_group = nullptr;
  for (const OwnerKind& kind : kKinds) {
    if (kind.info.kind != owner.kind.view()) continue;
    if (kind.info.group != group_of(owner.api_version.view())) continue;
    if (api_version(kind.info) == owner.api_version.view()) return &kind;
    if (of_group == nullptr) of_group = &kind;
  }
  return of_group;
}

std::optional<std::string> why_owner_fails(const OwnerKind& kind, const OwnedPod& pod,
                                           const Result<std::string>& object) {
  if (!object.has_value()) return unread(kind, pod, object.error());
  const json owner = json::parse(*object, nullptr, /*allow_exceptions=*/false);
  if (text_at(member_at(owner, "metadata"), "uid") != pod.owner.uid.view())
    return unread(kind, pod, Error{.kind = ErrorKind::kNotFound});
  switch (kind.then) {
    case AfterEviction::kRecreates:
      break;
    case AfterEviction::kByPolicy:
      return fails_by_policy(kind, pod, owner);
    case AfterEviction::kUnlessOwned:
      return fails_if_owned(kind, pod, owner);
    case AfterEviction::kWithLauncher:
      return fails_without_launcher(kind, pod, owner);
  }
  return std::nullopt;
}

std::string why_unread_owner_may_fail(const OwnerKind& kind, const OwnedPod& pod) {
  return fmt::format(
      "{} would fail without pod {}, unless spec.{} says restartPolicy: ExitCode, which the "
      "controller reads",
      name_of_owner(pod), pod.name, kind.path);
}

std::string why_unknown_owner_keeps(const OwnedPod& pod) {
  return fmt::format(
      "pod {0} has restartPolicy Never, and berth does not know whether {1} ({2}) would create it "
      "again or fail; delete the pod to free its GPUs",
      pod.name, name_of_owner(pod), pod.owner.api_version.view());
}

}  // namespace berth::queue
