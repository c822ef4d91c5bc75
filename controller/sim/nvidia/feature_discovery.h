// SPDX-License-Identifier: Apache-2.0
// FeatureDiscovery: NVIDIA's GPU feature discovery on one node. It writes its labels some time
// after it starts, and corrects changes by others within a minute. While it does not run, old
// labels stay.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "controller/sim/kube/actor_client.h"
#include "controller/sim/nvidia/gpu_machine.h"

namespace berth::sim {

class FeatureDiscovery {
 public:
  FeatureDiscovery(AgentWorld& world, GpuMachine& machine);

  // Call it only while the machine runs.
  void look();
  std::optional<MonotonicTime> next_due() const { return due_; }

 private:
  // The patch that corrects the Node's labels; null: they are right.
  nlohmann::json compute_difference() const;

  AgentWorld& world_;
  GpuMachine& machine_;
  const ActorClient client_;
  std::string process_;
  bool labelled_ = false;  // since the process started
  std::optional<MonotonicTime> due_;
};

}  // namespace berth::sim
