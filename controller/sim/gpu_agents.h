// SPDX-License-Identifier: Apache-2.0
// GpuAgents: NVIDIA's software on every GPU node, as far as berth can tell: mig-manager, the device
// plugin (with the kubelet's part in it), GPU feature discovery, and the GPU operator's label
// keeper, with the faults they are known for. The agents are pods of DaemonSets: paused deploy
// labels take them away, a dead kubelet stops them.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "controller/sim/kube_actors.h"
#include "controller/sim/simulation.h"

namespace berth::sim {

// mig-manager's, each for one run of it on one node.
enum class AgentFault {
  kNone,
  kWedge,             // stays pending, deploy labels stay paused (mig-parted#485)
  kFail,              // failed, labels restored
  kFailLabelsPaused,  // failed, labels stay paused
  kLie,               // success, and no instance exists
  kStaleSuccess,      // the state still says success, of the run before, for a while
  kSlow,              // ten times as long
  kReboot,  // mode change needs a reboot: rebooting, NotReady, a new bootID, then it goes on
};
const char* to_string(AgentFault fault);  // as scenarios write it: "wedge", "fail-labels-paused"

struct GpuAgentOptions {
  using Span = std::chrono::nanoseconds;
  std::string agent_namespace = "gpu-operator";
  std::string config_map = "berth-mig-parted-config";            // what mig-manager mounts
  std::string plugin_config_map = "berth-device-plugin-config";  // what the device plugin mounts
  std::string strategy = "mixed";                                // MIG_STRATEGY
  bool exporters = false;                                        // dcgm-exporter's pods, too
  Span config_map_delay = std::chrono::seconds(60);  // how late a mounted ConfigMap may be, at most
  Span apply_time = std::chrono::seconds(20);
  Span pod_wait = std::chrono::minutes(5);        // mig-manager's patience with the plugin's pods
  Span plugin_lag = std::chrono::seconds(2);      // from the plugin's start to allocatable
  Span discovery_lag = std::chrono::seconds(5);   // from discovery's start to labels
  Span capacity_grace = std::chrono::minutes(5);  // a resource that went stays in capacity, with 0
  Span reboot_time = std::chrono::minutes(2);
  Span operator_lag = std::chrono::seconds(1);  // an empty mig.config becomes all-disabled
};

struct GpuNode {
  std::string name;
  std::string product = "NVIDIA-A100-SXM4-80GB";
  int gpus = 4;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  bool cordoned = false;
};

class GpuAgents {
 public:
  // Creates the agents' namespace and DaemonSets.
  GpuAgents(Simulation& simulation, KubeActors& kube, GpuAgentOptions options);
  ~GpuAgents();

  // A Node as NFD, discovery and the operator label it, MIG off, devices offered; the agents' pods
  // come as their DaemonSets' controller makes them. Labels are added to the usual ones or replace
  // them, "" removes one. Throws std::runtime_error for a product that mig_hardware.h has no table
  // for.
  void add_node(const GpuNode& node);
  // The machine is gone: its Node, its pods.
  void remove_node(const std::string& name);
  // The next `times` runs on the node go wrong so; -1: all of them. Replaces an earlier order.
  void inject(const std::string& node, AgentFault fault, int times);
  // At once, whatever runs. Instances do not outlive it: mig-manager makes them again.
  void reboot(const std::string& node);
  // The hardware's truth: resource → how many whole devices or instances the node's GPUs are cut
  // in, named as under strategy mixed.
  std::map<std::string, int> devices(const std::string& node) const;

 private:
  struct Parts;
  std::shared_ptr<Parts> parts_;  // the store knows it, weakly
};

}  // namespace berth::sim
