// SPDX-License-Identifier: Apache-2.0
// Pods as the controllers of other projects create them, with their labels, annotations and owners.
#pragma once

#include <fmt/format.h>

#include <string>

#include "apis/base/names.h"
#include "apis/kinds/core.h"

namespace berth::queue::test {

inline berth::Pod framework_pod(const std::string& name, OwnerReference owner) {
  berth::Pod pod;
  pod.meta.name = name;
  pod.meta.namespace_ = "ns";
  pod.meta.uid = "uid-" + name;
  owner.uid = "uid-of-" + owner.name.str();
  owner.controller = true;
  pod.meta.owner_references = {std::move(owner)};
  pod.shape.edit()->requests = {{"nvidia.com/gpu", Quantity::whole(1)}};
  return pod;
}

inline berth::Pod stateful_pod(const std::string& set, int ordinal) {
  return framework_pod(fmt::format("{}-{}", set, ordinal),
                       {.api_version = "apps/v1", .kind = "StatefulSet", .name = Text(set)});
}

// The pod with index 0 is the leader. The LeaderWorkerSet creates one StatefulSet of leaders, and
// one per group for its workers.
inline berth::Pod leader_worker_pod(const std::string& set, int group, int index, int size) {
  const std::string leader = fmt::format("{}-{}", set, group);
  berth::Pod pod = index == 0 ? stateful_pod(set, group) : stateful_pod(leader, index);
  pod.meta.labels.set("leaderworkerset.sigs.k8s.io/name", Text(set));
  pod.meta.labels.set("leaderworkerset.sigs.k8s.io/group-index", Text(std::to_string(group)));
  pod.meta.labels.set("leaderworkerset.sigs.k8s.io/worker-index", Text(std::to_string(index)));
  pod.meta.annotations.set("leaderworkerset.sigs.k8s.io/size", Text(std::to_string(size)));
  return pod;
}

inline berth::Pod job_set_pod(const std::string& set, const std::string& role, int index) {
  const std::string job = fmt::format("{}-{}-0", set, role);
  berth::Pod pod = framework_pod(fmt::format("{}-{}-x", job, index),
                                 {.api_version = "batch/v1", .kind = "Job", .name = Text(job)});
  pod.meta.labels.set("jobset.sigs.k8s.io/jobset-name", Text(set));
  pod.meta.labels.set("jobset.sigs.k8s.io/replicatedjob-name", Text(role));
  pod.meta.labels.set("jobset.sigs.k8s.io/replicatedjob-replicas", "1");
  pod.meta.labels.set("jobset.sigs.k8s.io/global-replicas", "2");
  return pod;
}

inline berth::Pod kubeflow_pod(const std::string& job, const std::string& controller,
                               const std::string& type) {
  berth::Pod pod =
      framework_pod(fmt::format("{}-{}-0", job, type),
                    {.api_version = "kubeflow.org/v1", .kind = "PyTorchJob", .name = Text(job)});
  pod.meta.labels.set("training.kubeflow.org/job-name", Text(job));
  pod.meta.labels.set("training.kubeflow.org/operator-name", Text(controller));
  pod.meta.labels.set("training.kubeflow.org/replica-type", Text(type));
  return pod;
}

// The launcher of mpi-operator is a Job's pod, while the workers belong to the MPIJob itself.
inline berth::Pod mpi_pod(const std::string& job, const std::string& role, int index = 0) {
  OwnerReference owner{.api_version = "kubeflow.org/v2beta1", .kind = "MPIJob", .name = Text(job)};
  if (role == "launcher")
    owner = {.api_version = "batch/v1", .kind = "Job", .name = Text(job + "-launcher")};
  berth::Pod pod = framework_pod(fmt::format("{}-{}-{}", job, role, index), std::move(owner));
  pod.meta.labels.set("training.kubeflow.org/job-name", Text(job));
  pod.meta.labels.set("training.kubeflow.org/operator-name", "mpi-operator");
  pod.meta.labels.set("training.kubeflow.org/job-role", Text(role));
  return pod;
}

inline berth::Pod ray_pod(const std::string& cluster, const std::string& group) {
  berth::Pod pod =
      framework_pod(fmt::format("{}-{}-x", cluster, group),
                    {.api_version = "ray.io/v1", .kind = "RayCluster", .name = Text(cluster)});
  pod.meta.labels.set("ray.io/cluster", Text(cluster));
  pod.meta.labels.set("ray.io/group", Text(group));
  pod.meta.labels.set("ray.io/node-type", group == "headgroup" ? "head" : "worker");
  return pod;
}

}  // namespace berth::queue::test
