// SPDX-License-Identifier: Apache-2.0
// Proof: a Job that shows that a node's GPUs work before the node is put back into service. It runs
// nvidia-smi there, or what the settings name, in berth's namespace. Its pod asks for no GPU, and
// is shown all of them: it takes none from anybody, waits for none, and counts in no queue.
//
// There is one for each time that a node is about to return. Its name is made of the node and of
// what its record says, so that whoever leads next finds it instead of making another. None is
// deleted: it ends by its deadline, and Kubernetes takes away what has ended.
#pragma once

#include <optional>
#include <string>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/disruption/health_record.h"

namespace berth {

// Whether the settings ask for proofs at all.
inline bool wants_proofs(const Snapshot& snapshot) {
  return !snapshot.settings.proof.image.empty();
}

struct Proof {
  enum class State {
    kAbsent,    // nobody has begun it
    kUnderWay,  // it runs, waits for its node, or goes
    kPassed,
    kFailed,
  };
  State state = State::kAbsent;
  std::string why;                  // it failed: "Job/berth-system/berth-proof-…: it was …"
  std::optional<Duration> next_in;  // after which one that is under way has failed
};

std::string proof_name(const Node& node, const HealthRecord& record);
Proof find_proof(const Snapshot& snapshot, const Node& node, const HealthRecord& record);
Write create_proof(const Snapshot& snapshot, const Node& node, const HealthRecord& record);

}  // namespace berth
