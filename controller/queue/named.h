// SPDX-License-Identifier: Apache-2.0
// The objects of a workload by its name, "Job/NAMESPACE/NAME": what facts and ledger call it by.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/queue/cluster_index.h"

namespace berth::queue {

// Null if it is not there.
template <class T>
const T* find_named(const Store<T>& store, std::string_view name) {
  const std::size_t kind = name.find('/');
  const std::size_t slash = name.find('/', kind + 1);
  return store.find(name.substr(kind + 1, slash - kind - 1), name.substr(slash + 1));
}

// Of a group or a single pod; none of a Job.
inline std::vector<const berth::Pod*> pods_of(const ClusterState& cluster,
                                              const ClusterIndex& index, const std::string& name) {
  if (!name.starts_with("Pod/")) return index.members(name);
  const berth::Pod* pod = find_named(cluster.pods(), name);
  return pod == nullptr ? std::vector<const berth::Pod*>() : std::vector{pod};
}

}  // namespace berth::queue
