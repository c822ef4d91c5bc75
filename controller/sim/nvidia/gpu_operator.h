// SPDX-License-Identifier: Apache-2.0
// GpuOperator: the part of NVIDIA's GPU operator that adds missing labels to one node. It runs
// elsewhere, so it works while the node is down.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "controller/sim/kube/actor_client.h"
#include "controller/sim/nvidia/gpu_machine.h"

namespace berth::sim {

class GpuOperator {
 public:
  GpuOperator(AgentWorld& world, GpuMachine& machine);

  void look();
  std::optional<MonotonicTime> next_due() const { return due_; }

 private:
  // The patch that adds them; null: none is missing.
  nlohmann::json compute_missing() const;

  AgentWorld& world_;
  GpuMachine& machine_;
  const ActorClient client_;
  const std::map<std::string, std::string> deploy_labels_;
  std::optional<MonotonicTime> due_;
};

}  // namespace berth::sim
