// SPDX-License-Identifier: Apache-2.0
// RolloutChoice: which nodes of a layout are taken next, and the state of each of them. The
// controller takes its next nodes from this function, and `berth plan` its order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apis/kinds/mig_layout.h"
#include "controller/core/cause.h"
#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

// The columns of status.nodes.
enum class NodeBucket { kUpdated, kInProgress, kBlocked, kFailed, kPending };

// The state of one selected node. The status does not list nodes that are UpToDate.
struct NodeStanding {
  const Node* node = nullptr;
  NodeBucket bucket = NodeBucket::kPending;
  std::string phase;  // UpToDate, Waiting, Cordoned, Draining, Applying, Verifying, …
  Cause cause;        // why it waits; no reason if it does not wait
  std::optional<Time> since;
  bool out = false;  // NotReady, cordoned, with a slot, or in progress: counts against the budget
  // The config that it should have; empty if the layout can't be resolved for it.
  std::string config;
  std::optional<Time> due;  // when it may be taken again without any other change
  bool stuck = false;       // in progress, and only a user can bring it forward
};

struct NodeClaim {
  const Node* node = nullptr;
  std::int64_t seq = 0;
  bool already_out = false;  // uses no slot of the budget, and stays cordoned afterwards
  std::string why;           // "no GPU pod has to leave", "2 pods have to leave, priority 0"
};

// The layout's config on one kind of node.
struct NodeConfig {
  std::string product;
  std::string name;
  std::string content;
};

struct RolloutChoice {
  std::vector<NodeStanding> nodes;  // every node that the layout selects and owns, in name order
  std::vector<NodeConfig> configs;  // one for each kind of node
  std::vector<const Node*> order;   // nodes that still have to be changed, in order
  std::vector<NodeClaim> take;      // to claim now, all at once
  std::vector<Ask> asks;            // questions to ask before more nodes can be taken
  std::vector<Guard> looks;         // controllers to read before that
  std::int32_t budget = 0;          // how many nodes may be unavailable
  std::int32_t out = 0;             // how many nodes are unavailable
  // Those of them that were taken for the layout before they left it, or that the cache does not
  // know.
  std::int32_t left_out = 0;
  bool halted = false;          // maxFailures reached: no further node is taken
  std::optional<Cause> closed;  // why no node at all may be taken
  // When the policy's windows open or close next, if nodes still have to be changed.
  std::optional<Time> calendar_changes_at;
  std::vector<std::string> lost;  // selected nodes that a layout of higher precedence owns
};

RolloutChoice decide_rollout(const Snapshot& snapshot, const MIGLayout& layout);

}  // namespace berth
