// SPDX-License-Identifier: Apache-2.0
// Remakers: whether the controllers of pods re-create them after an eviction, asked pod by pod. An
// eviction counts as a failure of the Job that owns the pod, and a Job allows only so many. For
// other controllers it depends on their kind (owner_kinds.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "controller/core/cluster_state.h"
#include "controller/queue/facts/facts.h"
#include "controller/queue/index/owner_kinds.h"

namespace berth::queue {

struct Remaking {
  std::string stays;                      // why the pod has to stay; empty: it may be evicted
  const OwnerKind* read_first = nullptr;  // if set, read the controller live first: it decides
};

class Remakers {
 public:
  explicit Remakers(const ClusterState& cluster) : cluster_(cluster) {}

  Remaking judge(const berth::Pod& pod);
  // Returns why the pod has to stay, as far as berth knows without a live read. Empty: its
  // controller re-creates it.
  std::string why_not(const berth::Pod& pod) { return judge(pod).stays; }

 private:
  std::string why_job_fails(const berth::Pod& pod, const OwnerReference& owner);

  const ClusterState& cluster_;
  std::map<const berth::Job*, std::int64_t> failures_;
};

// Whether berth may find out, once the pod runs, that it has to stay. Decided by the pod alone,
// before it runs: for controllers that have to be read, it assumes the worst. `job` is the Job that
// controls the pod, null if unknown. `record` is the pod's own, if it was released.
bool could_stay(const berth::Pod& pod, const berth::Job* job,
                const std::optional<AdmissionFact>& record);

// Returns what owner_kinds.h needs to know about the pod.
OwnedPod owned_pod(const berth::Pod& pod);

}  // namespace berth::queue
