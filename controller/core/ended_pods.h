// SPDX-License-Identifier: Apache-2.0
// EndedPods: berth keeps a finished pod if it is a member of a gang, because the gang must not wait
// again for a member that succeeded. It drops all other finished pods to save memory.
#pragma once

#include "apis/base/names.h"
#include "apis/kinds/core.h"

namespace berth {

// Members of LeaderWorkerSets and StatefulSets never finish, so berth's own annotation is enough.
inline bool is_looked_at(const Pod& pod) {
  return !pod.finished() || pod.meta.annotations.contains(names::kPodGroupSizeAnnotation);
}

}  // namespace berth
