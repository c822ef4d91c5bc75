// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/nvidia/device_plugin.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "apis/base/names.h"
#include "controller/sim/nvidia/gpu_resources.h"
#include "controller/sim/nvidia/operands.h"
#include "controller/sim/nvidia/plugin_sharing.h"

namespace berth::sim {

using nlohmann::json;

DevicePlugin::DevicePlugin(AgentWorld& world, GpuMachine& machine)
    : world_(world), machine_(machine), kubelet_(world.simulation.server(), "kubelet") {}

std::optional<MonotonicTime> DevicePlugin::next_due() const {
  std::optional<MonotonicTime> next;
  for (const auto& due : {start_due_, register_due_, forget_due_})
    if (due && (!next || *due < *next)) next = due;
  return next;
}

void DevicePlugin::look() {
  const std::string process = machine_.process(kPluginApp);
  // Its config manager restarts it when the label names another key.
  const std::string config = machine_.label(names::kDevicePluginConfig);
  const bool restarted = config != config_ && !process_.empty();
  config_ = config;
  if (process != process_ || restarted) start_process(process);
  const MonotonicTime now = world_.now();
  if (start_due_ && *start_due_ <= now) find_devices();
  if (register_due_ && *register_due_ <= now) register_next();
  if (forget_due_ && *forget_due_ <= now) forget();
}

// Before the first plugin starts, the node offers the resources that it was added with.
void DevicePlugin::start_process(const std::string& process) {
  const bool was_there = !process_.empty();
  process_ = process;
  start_due_.reset();
  register_due_.reset();
  unregistered_.clear();
  if (was_there) {
    withdraw();
  }
  if (!process_.empty()) start_due_ = world_.now() + world_.about(world_.options.plugin_lag);
}

// A plugin that crashes finds no devices: because GPUs differ with strategy single, or because its
// config is missing.
void DevicePlugin::find_devices() {
  start_due_.reset();
  const PluginSharing sharing =
      read_plugin_sharing(world_.simulation.store(), world_.options, config_);
  unregistered_ = sharing.offered(advertise(machine_.gpus, world_.options.strategy).resources);
  if (!unregistered_.empty()) register_due_ = world_.now();
  withdraw();
}

// Withdraws all resources but those that are about to be registered.
void DevicePlugin::withdraw() {
  json body = withdraw_patch(*machine_.node(), unregistered_);
  if (body.is_null()) return;
  machine_.patch(kubelet_, std::move(body), "status");
  forget_due_ = world_.now() + world_.options.capacity_grace;
}

void DevicePlugin::register_next() {
  const auto next = unregistered_.begin();
  const std::string amount = std::to_string(next->second);
  json body;
  body["status"]["capacity"][next->first] = amount;
  body["status"]["allocatable"][next->first] = amount;
  unregistered_.erase(next);
  register_due_.reset();
  if (!unregistered_.empty())
    register_due_ = world_.now() + world_.about(world_.options.plugin_lag / 8);
  machine_.patch(kubelet_, std::move(body), "status");
}

// The end of the kubelet's grace period for resources without a plugin.
void DevicePlugin::forget() {
  forget_due_.reset();
  json body = forget_patch(*machine_.node());
  if (!body.is_null()) machine_.patch(kubelet_, std::move(body), "status");
}

}  // namespace berth::sim
