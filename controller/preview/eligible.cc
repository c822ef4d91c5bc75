// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/eligible.h"

namespace berth {

bool eligible(const ClusterState& cluster, const PoolSpec& pool, std::string_view namespace_) {
  if (!pool.eligible_namespaces) return true;
  const Namespace* found = cluster.namespaces().find(namespace_);
  return found == nullptr || pool.eligible_namespaces->matches(found->meta.labels);
}

}  // namespace berth
