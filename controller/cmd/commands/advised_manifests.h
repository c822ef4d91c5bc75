// SPDX-License-Identifier: Apache-2.0
// AdvisedManifests: a proposal as YAML to review, plan and apply: MIGLayouts, and the policy if its
// pools must change for them or for shared GPUs.
#pragma once

#include <string>
#include <vector>

#include "controller/advise/proposal.h"

namespace berth {

// `policy` is the present one, as JSON. Comments list manual steps: what each owner's pods must
// request afterwards, and which owners don't fit. Without a proposal, only a comment.
std::string print_manifests(const advise::Proposal& proposal,
                            const std::vector<advise::OwnerAdvice>& advices,
                            const std::string& policy);

}  // namespace berth
