// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/kube/workload.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "controller/sim/world/object_fields.h"
#include "controller/sim/world/object_state.h"

namespace berth::sim {
using nlohmann::json;

json make_pod(const json& owner) {
  json pod = json::object();
  if (const json* found = find_at(owner, {"spec", "template"})) pod = *found;
  json& meta = pod["metadata"];
  meta["generateName"] = name_of(owner) + "-";
  meta["namespace"] = namespace_of(owner);
  json reference = {{"apiVersion", text_at(owner, {"apiVersion"})},
                    {"kind", text_at(owner, {"kind"})},
                    {"name", name_of(owner)},
                    {"uid", uid_of(owner)},
                    {"controller", true},
                    {"blockOwnerDeletion", true}};
  meta["ownerReferences"] = json::array({std::move(reference)});
  return pod;
}

void wake_controller(ActorQueue& queue, const Change& change, std::string_view plural) {
  const ResourceType* type = find_resource_type(plural);
  const json* controller = controller_of(*change.after);
  if (controller != nullptr && text_at(*controller, {"kind"}) == type->kind)
    queue.wake({type, change.key.namespace_, text_at(*controller, {"name"})});
}

void write_status(const ActorClient& client, const StoreKey& key, const json& object, json status) {
  bool differs = false;
  for (const auto& [name, value] : status.items()) {
    const json* old = find_at(object, {"status", name.c_str()});
    differs |= old == nullptr ? !value.is_null() : *old != value;
  }
  if (!differs) return;
  json patch;
  patch["status"] = std::move(status);
  client.merge_patch(key.type->plural, key.namespace_, key.name, std::move(patch), "status");
}

}  // namespace berth::sim
