// SPDX-License-Identifier: Apache-2.0
// Finds the objects of a workload by its name in facts and ledger: "Job/NAMESPACE/NAME".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/queue/index/cluster_index.h"

namespace berth::queue {

// Returns null if the object does not exist.
template <class T>
const T* find_named(const Store<T>& store, std::string_view name) {
  const std::size_t kind = name.find('/');
  const std::size_t slash = name.find('/', kind + 1);
  return store.find(name.substr(kind + 1, slash - kind - 1), name.substr(slash + 1));
}

// Returns the pods of a group or a single pod; none for a Job.
inline std::vector<const berth::Pod*> pods_of(const ClusterState& cluster,
                                              const ClusterIndex& index, const std::string& name) {
  if (!name.starts_with("Pod/")) return index.members(name);
  const berth::Pod* pod = find_named(cluster.pods(), name);
  return pod == nullptr ? std::vector<const berth::Pod*>() : std::vector{pod};
}

}  // namespace berth::queue
