// SPDX-License-Identifier: Apache-2.0
// Makes the queue's facts from Kubernetes' objects and berth's own.
#pragma once

#include <optional>
#include <string>

#include "apis/kinds/core.h"
#include "apis/kinds/gpu_cluster_policy.h"
#include "apis/kinds/gpu_queue.h"
#include "controller/queue/facts/facts.h"

namespace berth::queue {

// `pool` is the policy's pool of the node, empty if no pool selects it.
NodeFact node_fact(const Node& node, const std::string& pool);

// `queue` is the queue that the pod's label names, or the default queue of its namespace; empty if
// there is none. `priority` comes from the pod's label or its class. `job` is the Job that controls
// the pod; null if there is none or berth does not know it. Returns nothing for a pod that has
// ended, unless it is a gang's and no controller re-creates it. Returns nothing for a lost pod
// either (dead_nodes.h).
std::optional<PodFact> pod_fact(const berth::Pod& pod, const std::string& queue,
                                std::int32_t priority, const berth::Job* job = nullptr);

// Whether another controller creates and resumes the Job. Then its pods are workloads, and the Job
// is not. Jobs of a CronJob are workloads themselves.
bool is_made_for_another(const berth::Job& job);

// `priority` comes from the Job's label or the class in its template. berth does not read failed
// indexes yet: such a Job counts them until it ends.
JobFact job_fact(const berth::Job& job, const std::string& queue, std::int32_t priority);

// Returns the name of the Job's workload: "Job/NAMESPACE/NAME".
std::string workload_name(const berth::Job& job);
// Returns the name of the pod's workload: that of its Job, its group, or the pod itself.
std::string workload_name(const berth::Pod& pod);

// Whether berth's own gate holds the pod.
bool is_gated(const berth::Pod& pod);

// Whether the object has Kueue's queue label and none of berth's. Kueue resumes such a Job.
bool is_left_to_kueue(const ObjectMeta& meta);

QueueFact queue_fact(const GPUQueue& queue);

ElasticFact elastic_fact(const GPUClusterPolicy& policy);

}  // namespace berth::queue
