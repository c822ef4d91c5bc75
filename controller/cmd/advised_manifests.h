// SPDX-License-Identifier: Apache-2.0
// AdvisedManifests: a proposal as YAML to read, plan and apply: layouts, and the policy where its
// pools have to change for them or for shared GPUs.
#pragma once

#include <string>
#include <vector>

#include "controller/advise/proposal.h"

namespace berth {

// `policy`: as it stands, JSON. What has to be done by hand stands in comments: what each owner's
// pods ask for from then on, and what has no room. No document where nothing is proposed, only a
// comment that says so.
std::string print_manifests(const advise::Proposal& proposal,
                            const std::vector<advise::OwnerAdvice>& advices,
                            const std::string& policy);

}  // namespace berth
