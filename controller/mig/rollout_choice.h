// SPDX-License-Identifier: Apache-2.0
// RolloutChoice: which nodes of a layout go next, and where each of them stands. The one function
// from which the controller takes its next nodes and `berth plan` its order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apis/mig_layout.h"
#include "controller/core/cause.h"
#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

// The columns of status.nodes.
enum class NodeBucket { kUpdated, kInProgress, kBlocked, kFailed, kPending };

// Where one selected node stands. Details of UpToDate nodes are not published.
struct NodeStanding {
  const Node* node = nullptr;
  NodeBucket bucket = NodeBucket::kPending;
  std::string phase;  // UpToDate, Waiting, Cordoned, Draining, Applying, Verifying, …
  Cause cause;        // why it waits; without a reason if it doesn't
  std::optional<Time> since;
  bool out = false;  // NotReady, cordoned, holding a slot or on its way: counts against the budget
  std::string config;       // the config it is to have; empty if the layout can't be resolved on it
  std::optional<Time> due;  // when it may go again, without anything else changing
  bool stuck = false;       // on its way, and going on only when a person acts
};

struct NodeClaim {
  const Node* node = nullptr;
  std::int64_t seq = 0;
  bool already_out = false;  // costs no slot of the budget, stays cordoned afterwards
  std::string why;           // "no GPU pod has to leave", "2 pods have to leave, priority 0"
};

// What the layout means on one kind of node.
struct NodeConfig {
  std::string product;
  std::string name;
  std::string content;
};

struct RolloutChoice {
  std::vector<NodeStanding> nodes;  // every node the layout selects and owns, in name order
  std::vector<NodeConfig> configs;  // one for each kind among them
  std::vector<const Node*> order;   // those that still have to go, in the order they would
  std::vector<NodeClaim> take;      // to be claimed now, all at once
  std::vector<Ask> asks;            // questions to put before more can be taken
  std::vector<Guard> looks;         // controllers to read before that
  std::int32_t budget = 0;          // how many may be out
  std::int32_t out = 0;             // how many are
  // Of these, taken for the layout before they left it, or unknown to the cache.
  std::int32_t left_out = 0;
  bool halted = false;          // maxFailures reached: no further node is touched
  std::optional<Cause> closed;  // why no node at all may be taken
  // When the policy's windows open or close next, where nodes are still to go.
  std::optional<Time> calendar_changes_at;
  std::vector<std::string> lost;  // selected nodes that a layout of higher precedence owns
};

RolloutChoice decide_rollout(const Snapshot& snapshot, const MIGLayout& layout);

}  // namespace berth
