// SPDX-License-Identifier: Apache-2.0
// DevicePlugin: NVIDIA's device plugin on one node, including the kubelet's part. When it starts,
// it reads the GPUs' partitions once and registers them resource by resource. When it stops,
// allocatable becomes 0 at once and capacity after a grace period. The keys stay.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "controller/sim/kube/actor_client.h"
#include "controller/sim/nvidia/gpu_machine.h"

namespace berth::sim {

class DevicePlugin {
 public:
  DevicePlugin(AgentWorld& world, GpuMachine& machine);

  // Call it only while the machine runs.
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
  std::string config_;  // the key of its ConfigMap that it uses
  std::optional<MonotonicTime> start_due_;
  std::map<std::string, int> unregistered_;
  std::optional<MonotonicTime> register_due_;
  std::optional<MonotonicTime> forget_due_;
};

}  // namespace berth::sim
