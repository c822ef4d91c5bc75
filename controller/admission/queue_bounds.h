// SPDX-License-Identifier: Apache-2.0
// QueueBounds: workloads that berth refuses because no queue could hold or count them, or because
// they would keep GPUs for longer than a queue can guarantee. spec.admission of the
// GPUClusterPolicy sets the limits; without a policy its defaults apply. Under `Warn` and `Off`
// these refusals are warnings.
#pragma once

#include <string>

#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/admission/pod_slice.h"
#include "controller/admission/review_findings.h"
#include "controller/core/cluster_state.h"

namespace berth {

class QueueBounds {
 public:
  explicit QueueBounds(const ClusterState& cluster);

  // Whether the webhook writes podReplacementPolicy into Jobs of a queue.
  bool sets_replacement() const {
    return allowed_.pod_replacement_policy == PodReplacement::kFailed;
  }

  // Checks every pod, and every Job's template, of a managed namespace.
  void check_counted(const PodSlice& workload, ReviewFindings& findings) const;
  // Checks a new workload of a queue.
  void check_created(const PodSlice& workload, ReviewFindings& findings) const;
  // Checks an update of a Job of a queue. berth does not refuse a field that the update leaves
  // unchanged.
  void check_changed(const PodSlice& old, const PodSlice& now, ReviewFindings& findings) const;

 private:
  void check_daemon_set(const PodSlice& workload, ReviewFindings& findings) const;
  void check_claims(const PodSlice& workload, ReviewFindings& findings) const;
  void check_grace(const PodSlice& workload, ReviewFindings& findings) const;
  void refuse_replacement(ReviewFindings& findings) const;
  void refuse(std::string field, std::string message, ReviewFindings& findings) const;

  AdmissionSpec allowed_;
  bool only_warns_ = false;
};

// Whether a container of the pod asks for at least one GPU.
bool asks_for_gpus(const PodSlice& workload);

}  // namespace berth
