// SPDX-License-Identifier: Apache-2.0
// HealthKeys: which changes of nodes and Jobs make "health" due. Edits of the policy and rounds of
// samples do so, too (reconcilers/key_families.cc).
#pragma once

#include <string>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/core/settings.h"

namespace berth {

// `old` is the version that stood in the store, `now` the one that stands there; either may be
// null, not both.
std::vector<std::string> health_keys_for(const ClusterState&, const Settings&, const Node* old,
                                         const Node* now);
std::vector<std::string> health_keys_for(const ClusterState&, const Settings&, const Job* old,
                                         const Job* now);

}  // namespace berth
