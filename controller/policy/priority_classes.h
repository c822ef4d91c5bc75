// SPDX-License-Identifier: Apache-2.0
// PriorityClasses: those the policy names, with preemptionPolicy Never: preemption is the queue's,
// or gangs break. A class of the same name that somebody else made is left alone and told.
#pragma once

#include <string>
#include <vector>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

struct PriorityClassPlan {
  std::vector<std::string> taken;  // names that somebody else's class has
  std::int32_t changing = 0;
  std::int32_t standing = 0;  // of berth's, whether or not the policy still names them
};

// Of a policy that is being deleted all of berth's go. Value and preemptionPolicy can't be changed:
// such a class is deleted and made anew, which leaves its pods' priority as it is.
PriorityClassPlan plan_priority_classes(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                        Plan& plan);

}  // namespace berth
