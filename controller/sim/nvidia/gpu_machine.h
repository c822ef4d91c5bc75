// SPDX-License-Identifier: Apache-2.0
// GpuMachine: one node as NVIDIA's node components see it: its GPUs, whether the machine runs, and
// which of the components run. They change and report the state of these GPUs.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/sim/kube/actor_client.h"
#include "controller/sim/kube/kube_actors.h"
#include "controller/sim/kube/relations.h"
#include "controller/sim/kube/simulation.h"
#include "controller/sim/nvidia/gpu_agents.h"
#include "controller/sim/nvidia/mig_hardware.h"
#include "controller/sim/nvidia/mounted_config.h"
#include "controller/sim/world/random.h"

namespace berth::sim {

// Shared by the components of all nodes.
struct AgentWorld {
  Simulation& simulation;
  KubeActors& kube;
  const GpuAgentOptions options;
  MountedConfig config;
  Relations pods;
  Random random;

  MonotonicTime now() const { return simulation.now(); }
  // The span, plus or minus half of it.
  std::chrono::nanoseconds about(std::chrono::nanoseconds span) {
    return random.between(span / 2, span + span / 2);
  }
};

class GpuMachine {
 public:
  GpuMachine(AgentWorld& world, const GpuNode& node);

  const std::string& name() const { return node_.name; }
  const Product& product() const { return product_; }
  const GpuNode& as_added() const { return node_; }
  // with MIG mode and instances
  std::vector<Gpu> gpus;

  // False while it reboots or its kubelet is dead: nothing on it acts.
  bool runs() const;
  // Changes with each boot, which also restarts every process.
  int boots() const { return boots_; }

  // Loses instances but keeps MIG mode. No effect during a reboot.
  void reboot();
  // Ends the reboot when it is due.
  void look();
  std::optional<MonotonicTime> next_due() const { return reboot_end_; }

  // Null: the Node does not exist.
  ObjectPtr node() const;
  std::string label(const char* key) const;  // of the Node; empty: absent
  void patch(const ActorClient& as, nlohmann::json patch,
             const std::string& subresource = "") const;
  void set_label(const ActorClient& as, const char* key, const std::string& value) const;

  // Identifies the component's process: differs for another pod or boot; empty if none runs.
  std::string process(std::string_view app) const;
  // Whether mig-manager must still wait for pods, also terminating ones.
  bool has_gpu_clients() const;
  // A pod, "namespace/name", that uses a GPU; empty: none.
  std::string gpu_user() const;
  // After a reboot, pods run without their devices until the devices exist again.
  void give_devices_back() { without_devices_.clear(); }

 private:
  AgentWorld& world_;
  const GpuNode node_;
  const Product& product_;
  const ActorClient kubelet_;
  int boots_ = 0;
  std::optional<MonotonicTime> reboot_end_;
  std::set<std::string> without_devices_;  // uids of pods
};

}  // namespace berth::sim
