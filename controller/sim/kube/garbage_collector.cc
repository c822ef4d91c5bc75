// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/kube/garbage_collector.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "controller/sim/world/object_state.h"

namespace berth::sim {
namespace {

using nlohmann::json;

constexpr char kForeground[] = "foregroundDeletion";
constexpr char kOrphan[] = "orphan";

const json& owners_of(const json& object) {
  static const json kNone = json::array();
  const json* found = find_at(object, {"metadata", "ownerReferences"});
  return found != nullptr && found->is_array() ? *found : kNone;
}

bool blocks(const json& dependent, const std::string& owner_uid) {
  return std::ranges::any_of(owners_of(dependent), [&](const json& reference) {
    return text_at(reference, {"uid"}) == owner_uid && true_at(reference, {"blockOwnerDeletion"});
  });
}

json without_owner(const json& object, const std::string& uid) {
  json owners = owners_of(object);
  std::erase_if(owners.get_ref<json::array_t&>(),
                [&](const json& reference) { return text_at(reference, {"uid"}) == uid; });
  return owners;
}

}  // namespace

GarbageCollector::GarbageCollector(Simulation& simulation, const KubeOptions& options,
                                   const Relations& relations)
    : simulation_(simulation),
      relations_(relations),
      client_(simulation.server(), "generic-garbage-collector"),
      queue_(simulation, options.controller_lag, [this](const StoreKey& key) { look_at(key); }) {}

void GarbageCollector::on_change(const Change& change) {
  const json& object = *change.after;
  if (change.kind != Change::Kind::kDeleted) {
    const bool new_owners =
        change.before == nullptr || differ(*change.before, object, {"metadata", "ownerReferences"});
    if ((new_owners && !owners_of(object).empty()) || has_finalizer(object, kForeground) ||
        has_finalizer(object, kOrphan))
      queue_.wake(change.key);
    return;
  }
  for (const StoreKey& dependent : relations_.dependents(uid_of(object))) queue_.wake(dependent);
  for (const json& reference : owners_of(object)) {
    const StoreKey owner = owner_key(reference, change.key.namespace_);
    if (owner.type != nullptr) queue_.wake(owner);
  }
}

StoreKey GarbageCollector::owner_key(const json& reference, const std::string& namespace_) {
  const std::string kind = text_at(reference, {"kind"});
  const std::string version = text_at(reference, {"apiVersion"});
  for (const ResourceType& type : resource_types()) {
    if (type.kind != kind || type.api_version() != version) continue;
    return {&type, type.namespaced ? namespace_ : "", text_at(reference, {"name"})};
  }
  return {};
}

void GarbageCollector::look_at(const StoreKey& key) {
  const ObjectPtr object = simulation_.store().find(key);
  if (object == nullptr) return;
  if (!is_terminating(*object)) return collect(key, *object);
  if (has_finalizer(*object, kOrphan)) orphan_dependents(key, *object);
  if (has_finalizer(*object, kForeground)) finish_foreground(key, *object);
}

// An owner in foreground deletion counts as gone. An owner of a kind that is not served counts as
// present, because its state is unknown.
void GarbageCollector::collect(const StoreKey& key, const json& object) {
  json owners = json::array();
  bool waited_for = false;
  for (const json& reference : owners_of(object)) {
    const StoreKey owner = owner_key(reference, key.namespace_);
    const ObjectPtr found = owner.type == nullptr ? nullptr : simulation_.store().find(owner);
    const bool there = owner.type == nullptr ||
                       (found != nullptr && uid_of(*found) == text_at(reference, {"uid"}));
    const bool waits =
        there && found != nullptr && is_terminating(*found) && has_finalizer(*found, kForeground);
    waited_for |= waits;
    if (there && !waits) owners.push_back(reference);
  }
  if (owners.size() == owners_of(object).size()) return;
  if (owners.empty()) {
    const json options = {{"propagationPolicy", waited_for ? "Foreground" : "Background"},
                          {"preconditions", {{"uid", uid_of(object)}}}};
    client_.remove(key.type->plural, key.namespace_, key.name, options);
    return;
  }
  json patch;
  patch["metadata"]["ownerReferences"] = std::move(owners);
  client_.merge_patch(key.type->plural, key.namespace_, key.name, std::move(patch));
}

void GarbageCollector::finish_foreground(const StoreKey& key, const json& owner) {
  bool blocked = false;
  for (const StoreKey& dependent : relations_.dependents(uid_of(owner))) {
    queue_.wake(dependent);
    blocked |= blocks(*simulation_.store().find(dependent), uid_of(owner));
  }
  if (!blocked) remove_finalizer(key, owner, kForeground);
}

void GarbageCollector::orphan_dependents(const StoreKey& key, const json& owner) {
  for (const StoreKey& dependent : relations_.dependents(uid_of(owner))) {
    const ObjectPtr object = simulation_.store().find(dependent);
    json patch;
    patch["metadata"]["ownerReferences"] = without_owner(*object, uid_of(owner));
    client_.merge_patch(dependent.type->plural, dependent.namespace_, dependent.name,
                        std::move(patch));
  }
  remove_finalizer(key, owner, kOrphan);
}

void GarbageCollector::remove_finalizer(const StoreKey& key, const json& object,
                                        const char* finalizer) {
  json finalizers = object["metadata"]["finalizers"];
  std::erase_if(finalizers.get_ref<json::array_t&>(),
                [&](const json& held) { return held == finalizer; });
  json patch;
  patch["metadata"]["finalizers"] = std::move(finalizers);
  client_.merge_patch(key.type->plural, key.namespace_, key.name, std::move(patch));
}

}  // namespace berth::sim
