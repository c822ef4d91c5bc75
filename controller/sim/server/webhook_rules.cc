// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/webhook_rules.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "controller/sim/world/object_fields.h"

namespace berth::sim {

using nlohmann::json;

namespace {

constexpr char kManagedLabel[] = "gpu.berth.dev/managed";
constexpr char kQueueLabel[] = "gpu.berth.dev/queue";
constexpr const char* kOwnNamespaces[] = {"kube-system", "kube-node-lease", "kube-public"};

template <class Is>
bool any_of(const json* list, Is is) {
  return list != nullptr && list->is_array() && std::ranges::any_of(*list, is);
}

bool names_gpu(const json* amounts) {
  if (amounts == nullptr || !amounts->is_object()) return false;
  for (const auto& [name, amount] : amounts->items())
    if (name.starts_with("nvidia.com/") || name == "alpha.kubernetes.io/nvidia-gpu") return true;
  return false;
}

bool wants_gpu(const json& container) {
  return names_gpu(find_at(container, {"resources", "limits"})) ||
         names_gpu(find_at(container, {"resources", "requests"})) ||
         any_of(find_at(container, {"env"}), [](const json& variable) {
           return text_at(variable, {"name"}) == "NVIDIA_VISIBLE_DEVICES";
         });
}

}  // namespace

bool WebhookRules::selects(const Store& store, const std::string& namespace_) const {
  const auto is_it = [&](const char* name) { return namespace_ == name; };
  if (excluded.contains(namespace_) || std::ranges::any_of(kOwnNamespaces, is_it)) return false;
  const ObjectPtr found = store.find({find_resource_type("namespaces"), "", namespace_});
  return found != nullptr && text_at(*found, {"metadata", "labels", kManagedLabel}) == "true";
}

bool concerns_gpus(const json& spec, const json& metadata) {
  const auto is_hosts = [](const json& volume) { return find_at(volume, {"hostPath"}) != nullptr; };
  return find_at(metadata, {"labels", kQueueLabel}) != nullptr ||
         any_of(find_at(spec, {"volumes"}), is_hosts) ||
         any_of(find_at(spec, {"containers"}), wants_gpu) ||
         any_of(find_at(spec, {"initContainers"}), wants_gpu);
}

std::string webhook_of(const ResourceType& type) {
  return type.kind == "Pod" || type.kind == "Job" ? std::string(type.plural) + ".gpu.berth.dev"
                                                  : "";
}

}  // namespace berth::sim
