// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/kube/relations.h"

#include <nlohmann/json.hpp>

#include "controller/sim/world/object_fields.h"
#include "controller/sim/world/object_state.h"

namespace berth::sim {
namespace {

using Groups = std::map<std::string, std::set<StoreKey>>;

void set_member(Groups& groups, const std::string& group, const StoreKey& key, bool member) {
  if (group.empty()) return;
  if (member) {
    groups[group].insert(key);
    return;
  }
  const auto found = groups.find(group);
  if (found == groups.end()) return;
  found->second.erase(key);
  if (found->second.empty()) groups.erase(found);
}

std::vector<StoreKey> members(const Groups& groups, const std::string& group) {
  const auto found = groups.find(group);
  if (found == groups.end()) return {};
  return {found->second.begin(), found->second.end()};
}

}  // namespace

void Relations::on_change(const Change& change) {
  if (change.before != nullptr) place(change.key, change.before, false);
  if (change.kind != Change::Kind::kDeleted) place(change.key, change.after, true);
}

void Relations::place(const StoreKey& key, const ObjectPtr& object, bool stands) {
  if (is(key, "pods")) set_member(pods_by_node_, node_of(*object), key, stands);
  if (const nlohmann::json* owners = find_at(*object, {"metadata", "ownerReferences"}))
    for (const nlohmann::json& owner : *owners)
      set_member(by_owner_, text_at(owner, {"uid"}), key, stands);
}

std::vector<ObjectPtr> Relations::pods_on(const std::string& node) const {
  std::vector<ObjectPtr> pods;
  for (const StoreKey& key : members(pods_by_node_, node)) pods.push_back(store_.find(key));
  return pods;
}

std::vector<ObjectPtr> Relations::controlled_by(const std::string& uid) const {
  std::vector<ObjectPtr> objects;
  for (const StoreKey& key : dependents(uid)) {
    ObjectPtr object = store_.find(key);
    const nlohmann::json* controller = controller_of(*object);
    if (controller != nullptr && text_at(*controller, {"uid"}) == uid)
      objects.push_back(std::move(object));
  }
  return objects;
}

std::vector<StoreKey> Relations::dependents(const std::string& uid) const {
  return members(by_owner_, uid);
}

}  // namespace berth::sim
