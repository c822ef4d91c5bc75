// SPDX-License-Identifier: Apache-2.0
// NodeRules: what pod specs require of nodes other than resources (selector, required node
// affinity, tolerations). Each distinct set of rules has a name. NodeRules keeps in the index which
// nodes refuse pods with which rules.
#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "apis/kinds/core.h"
#include "controller/queue/facts/facts_index.h"

namespace berth::queue {

class NodeRules {
 public:
  explicit NodeRules(FactsIndex& facts) : facts_(facts) {}

  // Returns a name made of the rules' text, so that equal rules have equal names.
  const std::string& name_of(const PodShape& shape);
  // `node` is the stored object. `pool` is its pool by the policy. The node counts as if it already
  // had the label of this pool.
  void put(const Node& node, const std::string& pool);
  // Replaces the pointer to an object by its next version; either may be null.
  void move(const Node* old, const Node* now);

 private:
  struct ByIdentity {
    std::size_t operator()(const PodShape& shape) const { return shape.hash(); }
  };
  void judge(const std::string& name, const berth::Pod& says, const Node& node,
             const std::string& pool);

  FactsIndex& facts_;
  std::map<std::string, berth::Pod> rules_;  // by name, a pod with these rules
  std::unordered_map<PodShape, const std::string*, ByIdentity> names_;
  std::unordered_map<const Node*, std::string> nodes_;  // → pool
};

}  // namespace berth::queue
