// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/nvidia/feature_discovery.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "apis/base/names.h"
#include "controller/sim/nvidia/gpu_resources.h"
#include "controller/sim/nvidia/operands.h"
#include "controller/sim/nvidia/plugin_sharing.h"

namespace berth::sim {
namespace {

using nlohmann::json;

constexpr auto kPass = std::chrono::minutes(1);

}  // namespace

FeatureDiscovery::FeatureDiscovery(AgentWorld& world, GpuMachine& machine)
    : world_(world), machine_(machine), client_(world.simulation.server(), kDiscoveryApp) {}

void FeatureDiscovery::look() {
  const std::string process = machine_.process(kDiscoveryApp);
  if (process != process_) {
    process_ = process;
    labelled_ = false;
    due_.reset();
    if (!process_.empty()) due_ = world_.now() + world_.about(world_.options.discovery_lag);
  }
  if (process_.empty()) return;
  if (labelled_ && !due_ && !compute_difference().is_null())
    due_ = world_.now() + world_.random.between(std::chrono::nanoseconds(0), kPass);
  if (!due_ || *due_ > world_.now()) return;
  due_.reset();

  json body = compute_difference();
  if (!std::exchange(labelled_, true)) {
    const auto wall = world_.simulation.clock().wall().time_since_epoch();
    body["metadata"]["labels"]["nvidia.com/gfd.timestamp"] =
        std::to_string(std::chrono::duration_cast<std::chrono::seconds>(wall).count());
  }
  if (!body.is_null()) machine_.patch(client_, std::move(body));
}

json FeatureDiscovery::compute_difference() const {
  auto wanted = discovery_labels(machine_.product(), machine_.gpus, world_.options.strategy);
  read_plugin_sharing(world_.simulation.store(), world_.options,
                      machine_.label(names::kDevicePluginConfig))
      .relabel(wanted);
  // The labels that the node was added with describe hardware that is not modelled.
  for (const auto& [key, value] : machine_.as_added().labels) {
    if (!wanted.contains(key)) continue;
    if (value.empty())
      wanted.erase(key);
    else
      wanted[key] = value;
  }
  return discovery_patch(*machine_.node(), wanted);
}

}  // namespace berth::sim
