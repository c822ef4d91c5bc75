// SPDX-License-Identifier: Apache-2.0
// AdvisedManifests: a proposal as YAML to read, plan and apply: layouts, and where a pool's device
// plugin would not show their instances, the field of the policy to set.
#pragma once

#include <string>
#include <vector>

#include "controller/advise/proposal.h"

namespace berth {

// What has to be done by hand stands in comments: what each owner's pods ask for from then on, and
// what has no room. No document where nothing is proposed, only a comment that says so.
std::string print_manifests(const advise::Proposal& proposal,
                            const std::vector<advise::OwnerAdvice>& advices,
                            const GPUClusterPolicy& policy);

}  // namespace berth
