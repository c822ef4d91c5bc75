// SPDX-License-Identifier: Apache-2.0
// Relations: which pods are bound to a node, and which objects name an owner; kept as changes come,
// so that no actor walks through all of them. Answers are copies of what stands: writing while
// walking over one is safe.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "controller/sim/store.h"

namespace berth::sim {

class Relations {
 public:
  explicit Relations(const Store& store) : store_(store) {}

  // Before any actor hears of the change.
  void on_change(const Change& change);

  std::vector<ObjectPtr> pods_on(const std::string& node) const;
  // Whose controller this is.
  std::vector<ObjectPtr> controlled_by(const std::string& uid) const;
  // Who names this owner, also beside others.
  std::vector<StoreKey> dependents(const std::string& uid) const;

 private:
  void place(const StoreKey& key, const ObjectPtr& object, bool stands);

  const Store& store_;
  std::map<std::string, std::set<StoreKey>> pods_by_node_;
  std::map<std::string, std::set<StoreKey>> by_owner_;
};

}  // namespace berth::sim
