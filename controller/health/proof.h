// SPDX-License-Identifier: Apache-2.0
// Proof: a validation Job. It shows that a node's GPUs work before berth uncordons the node. The
// Job runs nvidia-smi, or the command in the settings, on the node and in berth's namespace. Its
// pod requests no GPU but sees all of them. So it takes no GPU from a workload, waits for none, and
// counts in no queue.
//
// berth creates one Job each time a node is about to return. The Job's name is a hash of the node
// and its record, so a new leader finds the Job and does not create another. berth deletes none of
// them. Each ends by its deadline, and Kubernetes removes it when its time to live has passed.
#pragma once

#include <optional>
#include <string>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/disruption/health_record.h"

namespace berth {

// Whether the settings require validation Jobs.
inline bool wants_proofs(const Snapshot& snapshot) {
  return !snapshot.settings.proof.image.empty();
}

struct Proof {
  enum class State {
    kAbsent,    // not created yet
    kUnderWay,  // pending, running or terminating
    kPassed,
    kFailed,
  };
  State state = State::kAbsent;
  std::string why;                  // if it failed: "Job/berth-system/berth-proof-…: it was …"
  std::optional<Duration> next_in;  // if under way: after so long it has failed
};

std::string proof_name(const Node& node, const HealthRecord& record);
Proof find_proof(const Snapshot& snapshot, const Node& node, const HealthRecord& record);
Write create_proof(const Snapshot& snapshot, const Node& node, const HealthRecord& record);

}  // namespace berth
