// SPDX-License-Identifier: Apache-2.0
// DevicePlugin: NVIDIA's device plugin on one node, with the kubelet's part in it. What the GPUs
// are cut in is found out once, when the plugin starts, and told resource by resource. When it
// leaves, nothing can be allocated at once; capacity goes to 0 after a grace, and keys stay.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "controller/sim/actor_client.h"
#include "controller/sim/gpu_machine.h"

namespace berth::sim {

class DevicePlugin {
 public:
  DevicePlugin(AgentWorld& world, GpuMachine& machine);

  // Only while the machine runs.
  void look();
  std::optional<MonotonicTime> next_due() const;

 private:
  void start_process(const std::string& process);
  void find_devices();
  void withdraw();
  void register_next();
  void forget();

  AgentWorld& world_;
  GpuMachine& machine_;
  const ActorClient kubelet_;
  std::string process_;
  std::string config_;  // the key of its ConfigMap that it runs with
  std::optional<MonotonicTime> start_due_;
  std::map<std::string, int> unregistered_;
  std::optional<MonotonicTime> register_due_;
  std::optional<MonotonicTime> forget_due_;
};

}  // namespace berth::sim
