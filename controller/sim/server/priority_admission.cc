// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/priority_admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "controller/sim/server/status.h"
#include "controller/sim/world/object_fields.h"
#include "controller/sim/world/object_state.h"

namespace berth::sim {
namespace {

using nlohmann::json;

const ResourceType& classes() {
  static const ResourceType& type = *find_resource_type("priorityclasses");
  return type;
}

std::int64_t value_of(const json& priority_class) {
  return integer_at(priority_class, {"value"}).value_or(0);
}

// If there are two default classes, the lower one; null: none.
ObjectPtr default_class(const Store& store) {
  ObjectPtr found;
  for (const ObjectPtr& one : store.list(classes()))
    if (true_at(*one, {"globalDefault"}) && (found == nullptr || value_of(*one) < value_of(*found)))
      found = one;
  return found;
}

ObjectPtr class_of(const Store& store, const StoreKey& key, const json& pod) {
  const std::string name = text_at(pod, {"spec", "priorityClassName"});
  if (name.empty()) return default_class(store);
  ObjectPtr found = store.find({&classes(), "", name});
  if (found == nullptr)
    throw forbidden(*key.type, key.name,
                    fmt::format("no PriorityClass with name {} was found", name));
  return found;
}

}  // namespace

std::vector<json> system_priority_classes() {
  return {{{"metadata", {{"name", "system-node-critical"}}},
           {"value", 2'000'001'000},
           {"description",
            "Used for system critical pods that must not be moved from their current node."}},
          {{"metadata", {{"name", "system-cluster-critical"}}},
           {"value", 2'000'000'000},
           {"description",
            "Used for system critical pods that must run in the cluster, but can be moved to "
            "another node if necessary."}}};
}

bool is_system_class(std::string_view name) {
  return name == "system-node-critical" || name == "system-cluster-critical";
}

void admit_priority(const Store& store, const StoreKey& key, json& pod) {
  const ObjectPtr found = class_of(store, key, pod);
  json& spec = pod["spec"];
  if (found != nullptr) spec["priorityClassName"] = name_of(*found);
  const std::int64_t priority = found == nullptr ? 0 : value_of(*found);
  const std::string policy =
      found == nullptr ? "PreemptLowerPriority" : text_at(*found, {"preemptionPolicy"});
  if (const auto stated = integer_at(spec, {"priority"}); stated && *stated != priority)
    throw forbidden(
        *key.type, key.name,
        fmt::format("the integer value of priority ({}) must not be provided in pod spec; priority "
                    "admission controller computed {} from the given PriorityClass name",
                    *stated, priority));
  spec["priority"] = priority;
  if (policy.empty()) return;
  if (const std::string stated = text_at(spec, {"preemptionPolicy"});
      !stated.empty() && stated != policy)
    throw forbidden(
        *key.type, key.name,
        fmt::format("the string value of PreemptionPolicy ({}) must not be provided in pod spec; "
                    "priority admission controller computed {} from the given PriorityClass name",
                    stated, policy));
  spec["preemptionPolicy"] = policy;
}

void admit_priority_class(const Store& store, const StoreKey& key, const json& next, bool exists) {
  if (!true_at(next, {"globalDefault"})) return;
  const ObjectPtr found = default_class(store);
  if (found == nullptr || (exists && name_of(*found) == key.name)) return;
  throw forbidden(
      *key.type, key.name,
      fmt::format("PriorityClass {} is already marked as default. Only one default can exist",
                  name_of(*found)));
}

}  // namespace berth::sim
