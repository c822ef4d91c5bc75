// SPDX-License-Identifier: Apache-2.0
// AdvisedPolicy: the cluster's GPUClusterPolicy with what was advised in it, whole, to be applied.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/advise/new_shared_pool.h"

namespace berth::advise {

// `standing`: the policy as the API server wrote it, JSON. Of its spec only pools change: those
// named `mixed` get that migStrategy, and each proposed one stands before the pool that its nodes
// are of, as a node belongs to the first that selects it, and is like it in price, labels, taints
// and who may use it. Nothing else of the spec is lost, whether berth knows it or not.
std::string advised_policy(std::string_view standing, const std::vector<std::string>& mixed,
                           const std::vector<ProposedPool>& proposed);

}  // namespace berth::advise
