// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/nvidia/gpu_operator.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "apis/base/names.h"
#include "controller/sim/nvidia/operands.h"
#include "controller/sim/world/object_fields.h"

namespace berth::sim {
using nlohmann::json;

GpuOperator::GpuOperator(AgentWorld& world, GpuMachine& machine)
    : world_(world),
      machine_(machine),
      client_(world.simulation.server(), "gpu-operator"),
      deploy_labels_(deploy_labels()) {}

void GpuOperator::look() {
  json missing = compute_missing();
  if (missing.is_null()) return due_.reset();
  if (!due_) due_ = world_.now() + world_.about(world_.options.operator_lag);
  if (*due_ > world_.now()) return;
  due_.reset();
  machine_.patch(client_, std::move(missing));
}

// An empty label counts as missing; any other value is someone's choice. Labels that the node was
// added without stay absent.
json GpuOperator::compute_missing() const {
  json body;
  const ObjectPtr node = machine_.node();
  const auto label = [&](const char* key) { return text_at(*node, {"metadata", "labels", key}); };
  const auto need = [&](const std::string& key, const std::string& value) {
    if (label(key.c_str()).empty() && !machine_.as_added().labels.contains(key))
      body["metadata"]["labels"][key] = value;
  };
  for (const auto& [key, value] : deploy_labels_) need(key, value);
  if (label(names::kMigCapable) == "true") need(names::kMigConfig, names::kAllDisabled);
  return body;
}

}  // namespace berth::sim
