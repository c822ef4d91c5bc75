// SPDX-License-Identifier: Apache-2.0
// From the slices of Kubernetes' objects and berth's own to the queue's facts.
#pragma once

#include <optional>
#include <string>

#include "apis/core.h"
#include "apis/gpu_cluster_policy.h"
#include "apis/gpu_queue.h"
#include "controller/queue/facts.h"

namespace berth::queue {

// `pool` is the policy's, empty if none selects the node.
NodeFact node_fact(const Node& node, const std::string& pool);

// `queue` is the one that its label names, or its namespace's default; empty if neither does.
// A pod that has ended has no fact, unless it is a gang's and no controller re-creates it.
// `priority` is what its own label or its class comes to. `job` is the Job that controls it; null:
// none does, or it is not known.
std::optional<PodFact> pod_fact(const berth::Pod& pod, const std::string& queue,
                                std::int32_t priority, const berth::Job* job = nullptr);

// Whether another controller makes the Job and resumes it. Then its pods are workloads, it is not.
bool is_made_for_another(const berth::Job& job);

// `priority` is what its own label or its template's class comes to. Indexes that failed are not
// read yet: such a Job counts them until it ends.
JobFact job_fact(const berth::Job& job, const std::string& queue, std::int32_t priority);

// "Job/NAMESPACE/NAME": what its facts go by.
std::string workload_name(const berth::Job& job);
// The name by which the pod's workload goes: of its Job, its group, or its own.
std::string workload_name(const berth::Pod& pod);

// Whether berth's own gate holds it.
bool is_gated(const berth::Pod& pod);

// Whether it has Kueue's label and none of berth's: a Job that waits so is Kueue's to resume.
bool is_left_to_kueue(const ObjectMeta& meta);

QueueFact queue_fact(const GPUQueue& queue);

ElasticFact elastic_fact(const GPUClusterPolicy& policy);

}  // namespace berth::queue
