// SPDX-License-Identifier: Apache-2.0
// ForbiddenKeys: what pools set on nodes and an admission policy, the chart's, keeps berth from
// writing there; and the value of the chart that would let it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apis/gpu_cluster_policy.h"
#include "controller/core/cause.h"
#include "controller/core/settings.h"
#include "controller/policy/pool_keys.h"

namespace berth {

struct ForbiddenKey {
  std::string pool;   // the first that sets it
  std::string field;  // by the spec: "spec.pools[0].labels[a/b]"
  PoolItem item;
  bool leaving = false;    // the pool set it, and it is to be taken back
  std::int32_t nodes = 0;  // that wait for it
};
using ForbiddenKeys = std::vector<ForbiddenKey>;  // each key of labels, and of taints, once

bool may_write(const WritableKeys& keys, const PoolItem& item);
// One more node, for a key that may be there already.
void add_forbidden(const ForbiddenKey& key, ForbiddenKeys& to);
// Of what the pools say, whether or not they have nodes.
ForbiddenKeys forbidden_by_spec(const GPUClusterPolicy& policy, const WritableKeys& keys);

// "helm upgrade … --set 'nodeKeys={…}'", with what may be written already.
std::string line_that_allows(const ForbiddenKeys& forbidden, const WritableKeys& keys);
// Nothing if nothing is forbidden. The sentence fits into a condition, line and all.
std::optional<Cause> key_forbidden(const ForbiddenKeys& forbidden, const WritableKeys& keys);

}  // namespace berth
