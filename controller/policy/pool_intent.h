// SPDX-License-Identifier: Apache-2.0
// PoolIntent: what a pool wants each of its nodes to show. And what NVIDIA's agents tolerate, since
// a taint that they don't would keep the device plugin from coming back to its node.
#pragma once

#include <string>
#include <vector>

#include "controller/core/snapshot.h"
#include "controller/fleet/pools.h"
#include "controller/policy/pool_keys.h"

namespace berth {

struct PoolIntent {
  std::string pool;
  PoolItems items;               // the pool's label among them
  std::vector<Taint> held_back;  // NVIDIA's agents do not tolerate these
};

// The tolerations of each of NVIDIA's agents, as far as they are known: what ClusterPolicy gives to
// all of them, else what their DaemonSets say. A taint is tolerated if all of them do.
using AgentTolerations = std::vector<std::vector<Toleration>>;
AgentTolerations agent_tolerations(const Snapshot& snapshot);

PoolIntent intent_of(const PoolSpec& pool, const AgentTolerations& agents);

}  // namespace berth
