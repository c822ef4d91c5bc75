// SPDX-License-Identifier: Apache-2.0
// Applied: an object of a manifest as the API server would store it: an existing object of the same
// name keeps its identity and its status.
#pragma once

#include "controller/core/cluster_state.h"

namespace berth {

template <class T>
T applied(const T& given, const ClusterState& cluster, Time now) {
  T next = given;
  if (const T* standing = cluster.store<T>().find(given.meta.name)) {
    next.meta = standing->meta;
    next.meta.labels = given.meta.labels;
    next.status = standing->status;
    if (next.spec != standing->spec) ++next.meta.generation;
  } else {
    next.meta.uid = "what-if-" + given.meta.name;
    next.meta.generation = 1;
    next.meta.creation_timestamp = now;
  }
  return next;
}

}  // namespace berth
