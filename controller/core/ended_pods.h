// SPDX-License-Identifier: Apache-2.0
// berth keeps a pod that has ended if it is a member of a gang: a member that succeeded is not
// waited for again. It drops all other pods that have ended, to save memory.
#pragma once

#include "apis/core.h"
#include "apis/names.h"

namespace berth {

// LeaderWorkerSets and StatefulSets have no members that end, so berth's own annotation is enough.
inline bool is_looked_at(const Pod& pod) {
  return !pod.finished() || pod.meta.annotations.contains(names::kPodGroupSizeAnnotation);
}

}  // namespace berth
