// SPDX-License-Identifier: Apache-2.0
// ForbiddenKeys: labels and taints that pools set and that the chart's admission policy does not
// allow berth to write; and the chart's values that would allow it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/core/cause.h"
#include "controller/core/settings.h"
#include "controller/policy/pool_keys.h"

namespace berth {

struct ForbiddenKey {
  std::string pool;   // the first pool that sets it
  std::string field;  // its field in the spec: "spec.pools[0].labels[a/b]"
  PoolItem item;
  bool leaving = false;    // the pool had set it, and berth has to remove it
  std::int32_t nodes = 0;  // nodes that wait for it
};
using ForbiddenKeys = std::vector<ForbiddenKey>;  // each label key and each taint key once

bool may_write(const WritableKeys& keys, const PoolItem& item);
// Counts one more node for the key, which may be in the list already.
void add_forbidden(const ForbiddenKey& key, ForbiddenKeys& to);
// Returns the forbidden keys of the pools' specs, whether or not the pools have nodes.
ForbiddenKeys forbidden_by_spec(const GPUClusterPolicy& policy, const WritableKeys& keys);

// Returns "helm upgrade … --set 'nodeKeys={…}'", including the keys that are allowed already.
std::string line_that_allows(const ForbiddenKeys& forbidden, const WritableKeys& keys);
// Returns nothing if nothing is forbidden. The message with the command fits into a condition.
std::optional<Cause> key_forbidden(const ForbiddenKeys& forbidden, const WritableKeys& keys);

}  // namespace berth
