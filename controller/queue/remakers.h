// SPDX-License-Identifier: Apache-2.0
// Remakers: who makes pods anew that are evicted, asked of one pod after the other. An eviction
// counts as a failure of the Job that made the pod, and a Job can stand only so many. What other
// controllers make of it is a question of their kind (owner_kinds.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "controller/core/cluster_state.h"
#include "controller/queue/facts.h"
#include "controller/queue/owner_kinds.h"

namespace berth::queue {

struct Remaking {
  std::string stays;                      // why the pod has to stay; empty: it may go,
  const OwnerKind* read_first = nullptr;  // if its controller says so when it is read live
};

class Remakers {
 public:
  explicit Remakers(const ClusterState& cluster) : cluster_(cluster) {}

  Remaking judge(const berth::Pod& pod);
  // Why the pod has to stay, as far as that is known without a look. Empty: its controller makes it
  // anew.
  std::string why_not(const berth::Pod& pod) { return judge(pod).stays; }

 private:
  std::string why_job_fails(const berth::Pod& pod, const OwnerReference& owner);

  const ClusterState& cluster_;
  std::map<const berth::Job*, std::int64_t> failures_;
};

// Whether it may turn out, once the pod runs, that it has to stay. Known of the pod alone, before
// it runs: of controllers that have to be read the worst is taken. `job`: the Job that controls the
// pod, null if it is not known. `record`: its own, if it was let go.
bool could_stay(const berth::Pod& pod, const berth::Job* job,
                const std::optional<AdmissionFact>& record);

// What decides about the pod, for owner_kinds.h.
OwnedPod owned_pod(const berth::Pod& pod);

}  // namespace berth::queue
