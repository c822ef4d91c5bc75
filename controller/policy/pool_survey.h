// SPDX-License-Identifier: Apache-2.0
// PoolSurvey: one walk over the fleet with the policy in hand: what each pool has, and which nodes
// do not show yet what their pool asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/core/snapshot.h"
#include "controller/policy/forbidden_keys.h"
#include "controller/policy/plugin_config.h"
#include "controller/policy/pool_change.h"
#include "controller/policy/pool_intent.h"

namespace berth {

struct PoolFacts {
  const PoolSpec* pool = nullptr;
  PoolIntent intent;
  std::optional<PluginConfig> plugin;
  std::int32_t nodes = 0;
  std::int64_t gpus = 0;
  std::int64_t allocated = 0;  // of NVIDIA's resources, by unfinished pods that are bound
};

// A node whose label nvidia.com/device-plugin.config is not the one it should have.
struct PluginLabelDue {
  const Node* node = nullptr;
  const PoolFacts* pool = nullptr;  // null: no pool has it
  std::string standing;             // empty: no label
  bool foreign = false;             // somebody else's value
};

// A node that carries labels or taints of a policy's which no pool asks for any more.
struct RetreatDue {
  const Node* node = nullptr;
  PoolChange change;
};

struct PoolSurvey {
  std::vector<PoolFacts> pools;  // in the spec's order
  std::vector<PoolConflict> conflicts;
  std::int32_t conflict_count = 0;
  std::int32_t changing = 0;          // nodes whose labels or taints are still to be written
  std::vector<std::string> disputed;  // "n7: label a/b", in name order, at most a few
  std::int32_t disputed_count = 0;    // contested, or somebody else's before berth came
  std::int32_t strays = 0;            // nodes with a pool's label that is not berth's, in no pool
  std::string stray;                  // the first of them, with its label
  ForbiddenKeys forbidden;            // that nodes wait for
  std::vector<PluginLabelDue> plugin_due;
  std::vector<const Node*> plugin_settling;  // labelled, and the node does not show it yet
  std::vector<const Node*> plugin_ending;    // without a label, and the node still shows sharing
  std::vector<RetreatDue> retreats;
  std::set<std::string> plugin_keys;   // that nodes name
  std::int32_t carrying = 0;           // nodes that carry anything of the policy's
  std::vector<std::size_t> unoffered;  // catalog entries whose resource no node has
};

// Whether the node carries anything of a policy's.
bool carries_policy(const Node& node);

// Of a policy that is being deleted no pool has any node.
PoolSurvey survey_pools(const Snapshot& snapshot, const GPUClusterPolicy& policy);

}  // namespace berth
