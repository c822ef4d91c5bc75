// SPDX-License-Identifier: Apache-2.0
// AdvisedPolicy: the cluster's complete GPUClusterPolicy with the advice applied, ready for
// kubectl.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/advise/new_shared_pool.h"

namespace berth::advise {

// `standing`: the policy as the API server wrote it, in JSON. Only its pools change. Each pool in
// `mixed` gets that migStrategy. Each proposed pool is inserted before the pool that owns its nodes
// now, since a node belongs to the first pool that selects it. It copies that pool's price, labels,
// taints and eligible namespaces. All other fields of the spec are kept, also those unknown to
// berth.
std::string advised_policy(std::string_view standing, const std::vector<std::string>& mixed,
                           const std::vector<ProposedPool>& proposed);

}  // namespace berth::advise
