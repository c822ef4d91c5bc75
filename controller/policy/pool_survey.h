// SPDX-License-Identifier: Apache-2.0
// PoolSurvey: the result of one pass over all nodes for the policy: what each pool has, and which
// nodes do not show yet what their pool wants.
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
  std::int64_t allocated = 0;  // NVIDIA's resources that bound, unfinished pods hold
};

// A node whose label nvidia.com/device-plugin.config has the wrong value.
struct PluginLabelDue {
  const Node* node = nullptr;
  const PoolFacts* pool = nullptr;  // null: the node is in no pool
  std::string standing;             // the current value; empty: no label
  bool foreign = false;             // another writer's value
};

// A node with labels or taints of a policy that no pool wants any more.
struct RetreatDue {
  const Node* node = nullptr;
  PoolChange change;
};

struct PoolSurvey {
  std::vector<PoolFacts> pools;  // in the order of the spec
  std::vector<PoolConflict> conflicts;
  std::int32_t conflict_count = 0;
  std::int32_t changing = 0;          // nodes whose labels or taints have to be written
  std::vector<std::string> disputed;  // "n7: label a/b", in name order, only the first few
  std::int32_t disputed_count = 0;    // contested, or set by another writer before berth
  std::int32_t strays = 0;            // nodes in no pool, with a pool's label that is not berth's
  std::string stray;                  // the first of them, with its label
  ForbiddenKeys forbidden;            // keys that nodes wait for
  std::vector<PluginLabelDue> plugin_due;
  std::vector<const Node*> plugin_settling;  // labelled, but the node does not show it yet
  std::vector<const Node*> plugin_ending;    // without a label, but the node still shows sharing
  std::vector<RetreatDue> retreats;
  std::set<std::string> plugin_keys;   // keys that nodes name
  std::int32_t carrying = 0;           // nodes that carry anything of the policy
  std::vector<std::size_t> unoffered;  // catalog entries whose resource no node offers
};

// Whether the node carries anything of a policy.
bool carries_policy(const Node& node);

// If the policy is being deleted, no pool has any node.
PoolSurvey survey_pools(const Snapshot& snapshot, const GPUClusterPolicy& policy);

}  // namespace berth
