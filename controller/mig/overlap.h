// SPDX-License-Identifier: Apache-2.0
// Overlap: which layout owns a node that several layouts select. The higher priority wins, then the
// older layout, then the smaller uid. A layout that is being deleted comes after all others.
#pragma once

#include <string>
#include <vector>

#include "apis/kinds/mig_layout.h"
#include "controller/core/snapshot.h"

namespace berth {

// Whether spec.nodeSelector and spec.productSelector match the node. An empty nodeSelector matches
// every node with GPUs.
bool selects(const MIGLayout& layout, const Node& node);

// Explains why a layout selects no node, and guesses what was meant: "no node has tier=inferense; 5
// have =inference".
std::string why_none_selected(const MIGLayout& layout, const ClusterState& cluster);

class LayoutOwners {
 public:
  explicit LayoutOwners(const ClusterState& cluster);

  // nullptr: no layout selects the node.
  const MIGLayout* owner_of(const Node& node) const;

 private:
  std::vector<const MIGLayout*> by_precedence_;
};

// Returns the rule by which `first` owns the nodes that both select: "big: priority 5 over 0".
std::string precedence(const MIGLayout& first, const MIGLayout& second);

const MIGLayout* find_layout_by_uid(const ClusterState& cluster, std::string_view uid);

}  // namespace berth
