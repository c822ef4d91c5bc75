// SPDX-License-Identifier: Apache-2.0
// NodeRules: what pods' specs say of nodes beside resources (selector, required node affinity,
// tolerations), each saying under a name, and which nodes it keeps them away from.
#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "apis/core.h"
#include "controller/queue/facts_index.h"

namespace berth::queue {

class NodeRules {
 public:
  explicit NodeRules(FactsIndex& facts) : facts_(facts) {}

  // By its text, so that equal sayings have equal names.
  const std::string& name_of(const PodShape& shape);
  // The node as it stands in the store, and its pool by the policy, whose label counts as written.
  void put(const Node& node, const std::string& pool);
  // One version of an object for another; either may be null.
  void move(const Node* old, const Node* now);

 private:
  struct ByIdentity {
    std::size_t operator()(const PodShape& shape) const { return shape.hash(); }
  };
  void judge(const std::string& name, const berth::Pod& says, const Node& node,
             const std::string& pool);

  FactsIndex& facts_;
  std::map<std::string, berth::Pod> rules_;  // a pod that says so, by name
  std::unordered_map<PodShape, const std::string*, ByIdentity> names_;
  std::unordered_map<const Node*, std::string> nodes_;  // → pool
};

}  // namespace berth::queue
