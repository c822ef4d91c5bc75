// SPDX-License-Identifier: Apache-2.0
// QueueMembership: the queue of a pod or a Job, or why it has none and what to write. Also the
// advice for a pending one, by its reason (docs/reasons.md).
#pragma once

#include <string>

#include "apis/kinds/core.h"
#include "controller/core/cause.h"
#include "controller/core/cluster_state.h"
#include "controller/preview/queue_picture.h"

namespace berth {

struct QueueAdvice {
  std::string message;  // empty: no action needed
  std::string line;     // text to write or command to type; may be empty
};

struct QueueMembership {
  std::string queue;  // the one in its label, even if it does not exist, or its namespace's default
  Cause cause;        // if it has none: NoGPUs, NamespaceNotSelected, NoQueue
  QueueAdvice advice;
};

// For a new object with this namespace and these labels.
QueueMembership membership_of(const ClusterState& cluster, const queue::ClusterIndex& index,
                              const ObjectMeta& meta, const PodShape& shape);

QueueAdvice advice_for(const QueueVerdict& verdict, const queue::ClusterIndex& index);

}  // namespace berth
