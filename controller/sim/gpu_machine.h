// SPDX-License-Identifier: Apache-2.0
// GpuMachine: one node as NVIDIA's agents meet it: the GPUs built in, whether the machine runs, and
// which of the agents' processes do. Its GPUs are the truth that the agents change and report.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/sim/actor_client.h"
#include "controller/sim/gpu_agents.h"
#include "controller/sim/kube_actors.h"
#include "controller/sim/mig_hardware.h"
#include "controller/sim/mounted_config.h"
#include "controller/sim/random.h"
#include "controller/sim/relations.h"
#include "controller/sim/simulation.h"

namespace berth::sim {

// What the agents of all nodes share.
struct AgentWorld {
  Simulation& simulation;
  KubeActors& kube;
  const GpuAgentOptions options;
  MountedConfig config;
  Relations pods;
  Random random;

  MonotonicTime now() const { return simulation.now(); }
  // That long, give or take a half of it.
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
  // With MIG mode and instances.
  std::vector<Gpu> gpus;

  // False while it reboots and while its kubelet is dead: nothing on it acts.
  bool runs() const;
  // Changes with each boot, and with it every process.
  int boots() const { return boots_; }

  // Instances do not outlive it, MIG mode does. Nothing happens if it reboots already.
  void reboot();
  // Brings the machine back when its time has come.
  void look();
  std::optional<MonotonicTime> next_due() const { return reboot_end_; }

  // Null: there is no such Node.
  ObjectPtr node() const;
  std::string label(const char* key) const;  // of the Node; empty: not there
  void patch(const ActorClient& as, nlohmann::json patch,
             const std::string& subresource = "") const;
  void set_label(const ActorClient& as, const char* key, const std::string& value) const;

  // The agent's process: another text for another pod or boot; empty if none runs.
  std::string process(std::string_view app) const;
  // Whether pods are left, be they on their way out, that mig-manager waits for.
  bool has_gpu_clients() const;
  // A pod, "namespace/name", that uses a GPU; empty: none.
  std::string gpu_user() const;
  // After a reboot, pods run without the devices they had, until those are there again.
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
