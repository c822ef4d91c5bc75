// SPDX-License-Identifier: Apache-2.0
// Objects for the stores in tests of the queue: one pool `training`, and queues by team.
#pragma once

#include <string>
#include <utility>

#include "apis/base/names.h"
#include "apis/kinds/core.h"
#include "apis/kinds/gpu_cluster_policy.h"
#include "apis/kinds/gpu_queue.h"
#include "controller/queue/record/admission_record.h"

namespace berth::queue {

inline Namespace namespace_of(const std::string& name, const std::string& team) {
  Namespace made;
  made.meta.name = name;
  made.meta.labels.set("team", team);
  return made;
}

inline GPUQueue queue_of(const std::string& team, std::int64_t nominal) {
  GPUQueue made;
  made.meta.name = made.meta.uid = team;
  made.spec.cohort_name = "research";
  made.spec.namespace_selector.emplace().match_labels["team"] = team;
  made.spec.default_queue = true;
  made.spec.quotas.push_back({"nvidia.com/gpu", "training", nominal, {}, {}});
  return made;
}

inline berth::Job job_of(const std::string& namespace_, const std::string& name, int gpus) {
  berth::Job made;
  made.meta.namespace_ = namespace_;
  made.meta.name = made.meta.uid = name;
  made.suspended = true;
  made.pod_shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(gpus));
  return made;
}

// Writes berth's admission record: so many pods of the object in pool `training`.
inline void note_admission(ObjectMeta& meta, const std::string& team, Amounts amounts,
                           std::int64_t pods = 1) {
  const AdmissionFact fact{.uid = meta.uid,
                           .queue = team,
                           .cohort = "research",
                           .pool = "training",
                           .pods = pods,
                           .amounts = std::move(amounts)};
  meta.annotations.set(names::kAdmittedAnnotation, encode_admission(fact));
}

inline Node node_of(const std::string& name, int gpus) {
  Node made;
  made.meta.name = made.meta.uid = name;
  made.meta.labels.set("tier", "training");
  made.ready = true;
  made.allocatable.set("nvidia.com/gpu", Quantity::whole(gpus));
  made.allocatable.set("pods", Quantity::whole(100));
  return made;
}

inline GPUClusterPolicy policy_with(const std::string& pool) {
  GPUClusterPolicy made;
  made.meta.name = "cluster";
  PoolSpec& spec = made.spec.pools.emplace_back();
  spec.name = pool;
  spec.node_selector.match_labels["tier"] = "training";
  return made;
}

}  // namespace berth::queue
