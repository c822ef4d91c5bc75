// SPDX-License-Identifier: Apache-2.0
// Overlap: which layout a node belongs to where several select it. The higher priority wins, then
// the older layout, then the smaller uid; a layout that is being deleted gives way to any other.
#pragma once

#include <vector>

#include "apis/mig_layout.h"
#include "controller/core/snapshot.h"

namespace berth {

// Whether spec.nodeSelector and spec.productSelector take the node. An empty nodeSelector takes
// every node that has GPUs.
bool selects(const MIGLayout& layout, const Node& node);

class LayoutOwners {
 public:
  explicit LayoutOwners(const ClusterState& cluster);

  // nullptr: no layout wants the node.
  const MIGLayout* owner_of(const Node& node) const;

 private:
  std::vector<const MIGLayout*> by_precedence_;
};

const MIGLayout* find_layout_by_uid(const ClusterState& cluster, std::string_view uid);

}  // namespace berth
