// SPDX-License-Identifier: Apache-2.0
// NodePieces: the page's JSON of each node, kept until the node or a pod on it changes: between two
// looks, few of thousands of nodes change. A view (core/view.h). Use it only for viewers with all
// rights, because it reads the stores directly.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>

#include "controller/core/view.h"

namespace berth {

class NodePieces {
 public:
  void follow(const Change<Node>& change);
  void follow(const Change<Pod>& change);

  // The node's JSON; calls `make` if it is not kept.
  const std::string& of(const Node& node,
                        const std::function<std::string(const Node&)>& make) const;

 private:
  // By node. Mutable, because it is only a cache.
  mutable std::unordered_map<std::string, std::string> pieces_;
};

}  // namespace berth
