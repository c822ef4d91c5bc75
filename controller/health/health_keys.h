// SPDX-License-Identifier: Apache-2.0
// HealthKeys: the changes of nodes and Jobs after which key "health" is due. After edits of the
// policy and rounds of samples it is due, too (reconcilers/key_families.cc).
#pragma once

#include <string>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/core/settings.h"

namespace berth {

// `old` is the previous version in the store, `now` the current one. Either may be null, but not
// both.
std::vector<std::string> health_keys_for(const ClusterState&, const Settings&, const Node* old,
                                         const Node* now);
std::vector<std::string> health_keys_for(const ClusterState&, const Settings&, const Job* old,
                                         const Job* now);

}  // namespace berth
