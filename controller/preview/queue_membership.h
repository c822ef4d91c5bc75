// SPDX-License-Identifier: Apache-2.0
// Which queue a pod or a Job is in, and if in none, why and what to write; and what helps one that
// waits, by its reason (docs/reasons.md).
#pragma once

#include <string>

#include "apis/core.h"
#include "controller/core/cause.h"
#include "controller/core/cluster_state.h"
#include "controller/preview/queue_picture.h"

namespace berth {

struct QueueAdvice {
  std::string message;  // empty: nothing is to be done
  std::string line;     // what to write or to type; may be empty
};

struct QueueMembership {
  std::string queue;  // that its label names, whether it exists or not, or its namespace's default
  Cause cause;        // of none: NoGPUs, NamespaceNotSelected, NoQueue
  QueueAdvice advice;
};

// Of what is made in the object's namespace with its labels.
QueueMembership membership_of(const ClusterState& cluster, const queue::ClusterIndex& index,
                              const ObjectMeta& meta, const PodShape& shape);

QueueAdvice advice_for(const QueueVerdict& verdict, const queue::ClusterIndex& index);

}  // namespace berth
