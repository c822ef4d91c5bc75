// SPDX-License-Identifier: Apache-2.0
// PoolIntent: the labels and taints that a pool wants on each of its nodes; and what NVIDIA's node
// components tolerate. A taint that they don't tolerate would keep the device plugin from returning
// to its node.
#pragma once

#include <string>
#include <vector>

#include "controller/core/snapshot.h"
#include "controller/fleet/pools.h"
#include "controller/policy/pool_keys.h"

namespace berth {

struct PoolIntent {
  std::string pool;
  PoolItems items;               // including the pool's label
  std::vector<Taint> held_back;  // NVIDIA's node components do not tolerate these
};

// Returns the tolerations of each of NVIDIA's node components, as far as known: what ClusterPolicy
// gives to all of them, or else those of their DaemonSets. A taint is tolerated only if all of them
// tolerate it.
using AgentTolerations = std::vector<std::vector<Toleration>>;
AgentTolerations agent_tolerations(const Snapshot& snapshot);

PoolIntent intent_of(const PoolSpec& pool, const AgentTolerations& agents);

}  // namespace berth
