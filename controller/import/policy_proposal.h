// SPDX-License-Identifier: Apache-2.0
// What the queues need of the GPUClusterPolicy, of which a cluster has one: pools of the flavors'
// nodes, topology levels, priority classes. It is a proposal, since a policy may stand already.
#pragma once

#include <string>
#include <vector>

#include "controller/import/queues.h"

namespace berth {

struct PolicyProposal {
  std::string json;                    // a GPUClusterPolicy; empty: nothing is needed
  std::vector<const Source*> sources;  // what it is made of
};

// `label_domain`: of labels that a person is to put on nodes, where what a flavor selects by would
// move under berth's hands.
PolicyProposal propose_policy(const KueueObjects& kueue, const PoolNames& pools,
                              const FlavorUses& uses, const std::string& label_domain,
                              ImportReport& report);

}  // namespace berth
