// SPDX-License-Identifier: Apache-2.0
// NodePieces: what the page tells of each node, kept until the node or a pod on it is another: of
// thousands of nodes few are between two looks. A view (core/view.h); only for whoever may read
// everything, as it is of the stores alone.
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

  // The node's piece; `make` is asked for one that is not kept.
  const std::string& of(const Node& node,
                        const std::function<std::string(const Node&)>& make) const;

 private:
  // By node. Mutable: which of them have been asked for says nothing.
  mutable std::unordered_map<std::string, std::string> pieces_;
};

}  // namespace berth
