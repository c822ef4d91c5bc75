// SPDX-License-Identifier: Apache-2.0
// Relations: which pods are bound to a node, and which objects name an owner. It is updated with
// each change, so that no actor has to search all objects. It returns copies, so callers may write
// while they iterate.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "controller/sim/world/store.h"

namespace berth::sim {

class Relations {
 public:
  explicit Relations(const Store& store) : store_(store) {}

  // Call it before any actor gets the change.
  void on_change(const Change& change);

  std::vector<ObjectPtr> pods_on(const std::string& node) const;
  // The objects that this one controls.
  std::vector<ObjectPtr> controlled_by(const std::string& uid) const;
  // All objects that name this owner, also with others.
  std::vector<StoreKey> dependents(const std::string& uid) const;

 private:
  void place(const StoreKey& key, const ObjectPtr& object, bool stands);

  const Store& store_;
  std::map<std::string, std::set<StoreKey>> pods_by_node_;
  std::map<std::string, std::set<StoreKey>> by_owner_;
};

}  // namespace berth::sim
