// SPDX-License-Identifier: Apache-2.0
// PriorityClasses: the classes that the policy names, with preemptionPolicy Never: only the queue
// may preempt, because kube-scheduler would break up gangs. berth leaves a class of another user
// with the same name alone, and reports it.
#pragma once

#include <string>
#include <vector>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

struct PriorityClassPlan {
  std::vector<std::string> taken;  // names that another user's class has
  std::int32_t changing = 0;
  std::int32_t standing = 0;  // berth's classes, whether or not the policy still names them
};

// If the policy is being deleted, all of berth's classes go. Value and preemptionPolicy can't be
// changed: berth deletes such a class and re-creates it, which does not change the priority of its
// pods.
PriorityClassPlan plan_priority_classes(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                        Plan& plan);

}  // namespace berth
