// SPDX-License-Identifier: Apache-2.0
// The guarantees of a rollout, checked over the audit log: against what the API server applied, not
// what berth believes. The checker rebuilds nodes, pods and mig-manager's ConfigMap from the writes
// of all clients, and checks each write of berth against the state before it. The invariants:
//   I1  nvidia.com/mig.config changes only on a cordoned node with berth's open annotation and
//       without unfinished GPU pods; the same write removes the old state, and mig-manager's file
//       has the config
//   I2  nodes cordoned by berth ≤ the budget at every instant
//   I3  berth never uncordons a node that a user cordoned or holds; with `all_returned`, every node
//       that berth cordoned is schedulable again at the end
//   I4  a cordon never takes guarded capacity below minAvailable
//   I5  berth evicts no pod from a node whose layout is right, or that berth must not drain, except
//       for a queue's reclaim or preemption (reclaims.h)
//   I7  at most one relabel per node, claim, attempt and value
//   S3  berth removes pods by eviction with their uid; it uses DELETE only where force is allowed
//       and as a late reclaim (reclaims.h), never with a grace period of 0
//   S4  the cordon and its record are one write
//   S6  on nodes berth writes only its own annotations, mig.config, its state, paused deploy labels
//       and unschedulable
// The test itself checks I6 (everything ends well), because only the test knows the right end.
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

// One line per broken invariant: its name, what happened, and the event. A test expects {}.
std::vector<std::string> broken_invariants(const std::vector<AuditEvent>& events,
                                           const InvariantOptions& options = {});

}  // namespace berth::test
