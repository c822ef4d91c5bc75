// SPDX-License-Identifier: Apache-2.0
// A queue for all namespaces and pools, and an admitted Job, for tests of what happens to such a
// Job's pods.
#pragma once

#include <string>

#include "apis/kinds/gpu_queue.h"
#include "controller/queue/record/admission_record.h"
#include "tests/mig/planned_cluster.h"

namespace berth::test {

// "lab", the default queue of every namespace.
inline GPUQueue lab_queue(std::vector<QuotaSpec> quotas = {{"nvidia.com/gpu", "*", 8, {}, {}}}) {
  GPUQueue queue;
  queue.meta.name = queue.meta.uid = "lab";
  queue.spec.namespace_selector.emplace();
  queue.spec.default_queue = true;
  queue.spec.quotas = std::move(quotas);
  return queue;
}

inline Namespace team_a() {
  Namespace namespace_;
  namespace_.meta.name = "team-a";
  return namespace_;
}

inline std::string record(const std::string& uid, const std::string& pool = "*",
                          queue::Amounts amounts = {{"nvidia.com/gpu", 2}}) {
  return queue::encode_admission(
      {.uid = uid, .queue = "lab", .pool = pool, .pods = 2, .amounts = std::move(amounts)});
}

// Two running pods with a GPU each, and a backoffLimit of 0.
inline Job admitted_job(const std::string& name) {
  Job admitted = job(name, 0);
  admitted.parallelism = 2;
  admitted.completions = 2;
  admitted.pod_shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(1));
  admitted.meta.resource_version = "7";
  admitted.meta.annotations.set(names::kAdmittedAnnotation, record(admitted.meta.uid));
  return admitted;
}

}  // namespace berth::test
