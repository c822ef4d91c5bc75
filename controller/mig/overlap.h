// SPDX-License-Identifier: Apache-2.0
// Overlap: which layout a node belongs to where several select it. The higher priority wins, then
// the older layout, then the smaller uid; a layout that is being deleted gives way to any other.
#pragma once

#include <string>
#include <vector>

#include "apis/mig_layout.h"
#include "controller/core/snapshot.h"

namespace berth {

// Whether spec.nodeSelector and spec.productSelector take the node. An empty nodeSelector takes
// every node that has GPUs.
bool selects(const MIGLayout& layout, const Node& node);

// Why it takes none, with what was most likely meant: "no node has tier=inferense; 5 have
// =inference". For a layout that selects no node.
std::string why_none_selected(const MIGLayout& layout, const ClusterState& cluster);

class LayoutOwners {
 public:
  explicit LayoutOwners(const ClusterState& cluster);

  // nullptr: no layout wants the node.
  const MIGLayout* owner_of(const Node& node) const;

 private:
  std::vector<const MIGLayout*> by_precedence_;
};

// The rule by which the first has the nodes that both select: "big: priority 5 over 0".
std::string precedence(const MIGLayout& first, const MIGLayout& second);

const MIGLayout* find_layout_by_uid(const ClusterState& cluster, std::string_view uid);

}  // namespace berth
