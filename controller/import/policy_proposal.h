// SPDX-License-Identifier: Apache-2.0
// Proposes what the queues need in the GPUClusterPolicy: pools of the flavors' nodes, topology
// levels and priority classes. Only a proposal, because a cluster has one policy and may have it
// already.
#pragma once

#include <string>
#include <vector>

#include "controller/import/queues.h"

namespace berth {

struct PolicyProposal {
  std::string json;                    // a GPUClusterPolicy; empty: none is needed
  std::vector<const Source*> sources;  // the objects that it was made from
};

// `label_domain`: the domain of node labels that a user must set, where a flavor selects nodes by a
// label that berth itself changes.
PolicyProposal propose_policy(const KueueObjects& kueue, const PoolNames& pools,
                              const FlavorUses& uses, const std::string& label_domain,
                              ImportReport& report);

}  // namespace berth
