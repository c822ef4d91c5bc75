// SPDX-License-Identifier: Apache-2.0
// The promises of a rollout, checked over the audit log: what the API server took, not what berth
// believes. Nodes, pods and the agent's ConfigMap are rebuilt write by write, everybody's writes,
// and each write of berth is judged against the state it met. The names:
//   I1  nvidia.com/mig.config changes only on a node that is cordoned and carries berth's open
//   annotation, with no unfinished GPU pod
//       bound to it, the old state removed in the same write, and the config present in the agent's
//       file
//   I2  nodes cordoned by berth ≤ the budget at every instant
//   I3  a node that a person cordoned, or holds, is never uncordoned by berth; with `all_returned`,
//   every node berth cordoned is
//       schedulable again at the end
//   I4  a cordon never takes guarded capacity below minAvailable
//   I5  nothing is evicted from a node whose layout is right, nor from one that is not berth's to
//   empty, but what a queue takes back (reclaims.h)
//   I7  at most one relabel per node, claim, attempt and value
//   S3  pods leave by eviction with their uid; DELETE only where force is allowed and as a late
//   reclaim (reclaims.h), never with a grace period of 0
//   S4  the cordon and its record are one write
//   S6  on nodes berth touches its own annotations, mig.config, its state, paused deploy labels and
//   unschedulable, nothing else
// I6 (everything ends right) is for the test to say: it knows what right is.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/support/audit.h"

namespace berth::test {

struct InvariantOptions {
  int max_unavailable = 1;                   // I2
  bool force_allowed = false;                // S3: the layout says onTimeout: Force
  bool all_returned = true;                  // I3
  std::map<std::string, int> min_available;  // I4: resource → count
  std::set<std::string> pool_labels;         // S6: pools may set these labels, and taints
};

// One line per broken promise: its name, what happened, and the event that did it. {} is what a
// test expects.
std::vector<std::string> broken_invariants(const std::vector<AuditEvent>& events,
                                           const InvariantOptions& options = {});

}  // namespace berth::test
