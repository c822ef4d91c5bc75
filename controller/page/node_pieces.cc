// SPDX-License-Identifier: Apache-2.0
#include "controller/page/node_pieces.h"

namespace berth {

void NodePieces::follow(const Change<Node>& change) {
  if (change.news) pieces_.erase((change.now != nullptr ? change.now : change.old)->meta.name);
}

void NodePieces::follow(const Change<Pod>& change) {
  if (!change.news) return;
  for (const Pod* pod : {change.old, change.now})
    if (pod != nullptr) pieces_.erase(pod->node_name.str());
}

const std::string& NodePieces::of(const Node& node,
                                  const std::function<std::string(const Node&)>& make) const {
  const auto [piece, is_new] = pieces_.try_emplace(node.meta.name);
  if (is_new) piece->second = make(node);
  return piece->second;
}

}  // namespace berth
