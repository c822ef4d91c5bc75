// SPDX-License-Identifier: Apache-2.0
// GpuAgents: NVIDIA's node components on every GPU node, as far as berth can see them: mig-manager,
// the device plugin (including the kubelet's part), GPU feature discovery, and the GPU operator's
// labels, with their known faults. They are pods of DaemonSets: paused deploy labels remove them,
// and a dead kubelet stops them.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "controller/sim/kube/kube_actors.h"
#include "controller/sim/kube/simulation.h"

namespace berth::sim {

// Faults of mig-manager, each for one run on one node.
enum class AgentFault {
  kNone,
  kWedge,             // stays pending, and the deploy labels stay paused (mig-parted#485)
  kFail,              // failed, labels restored
  kFailLabelsPaused,  // failed, labels stay paused
  kLie,               // reports success without any instance
  kStaleSuccess,      // the state shows the last run's success for some time
  kSlow,              // takes ten times as long
  // The mode change needs a reboot: rebooting, NotReady, a new bootID, then it continues.
  kReboot,
};
const char* to_string(AgentFault fault);  // as in scenarios: "wedge", "fail-labels-paused"

struct GpuAgentOptions {
  using Span = std::chrono::nanoseconds;
  std::string agent_namespace = "gpu-operator";
  std::string config_map = "berth-mig-parted-config";            // what mig-manager mounts
  std::string plugin_config_map = "berth-device-plugin-config";  // what the device plugin mounts
  std::string strategy = "mixed";                                // MIG_STRATEGY
  bool exporters = false;                                        // adds dcgm-exporter's pods
  Span config_map_delay = std::chrono::seconds(60);  // the longest delay of a mounted ConfigMap
  Span apply_time = std::chrono::seconds(20);
  Span pod_wait = std::chrono::minutes(5);       // how long mig-manager waits for the plugin's pods
  Span plugin_lag = std::chrono::seconds(2);     // from the plugin's start to allocatable
  Span discovery_lag = std::chrono::seconds(5);  // from discovery's start to labels
  // time after which capacity of a missing resource becomes 0
  Span capacity_grace = std::chrono::minutes(5);
  Span reboot_time = std::chrono::minutes(2);
  Span operator_lag = std::chrono::seconds(1);  // until an empty mig.config becomes all-disabled
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
  // Creates the namespace and the DaemonSets of NVIDIA's node components.
  GpuAgents(Simulation& simulation, KubeActors& kube, GpuAgentOptions options);
  ~GpuAgents();

  // Adds a Node with the labels of NFD, GPU feature discovery and the operator, MIG off and devices
  // offered. The DaemonSet controller creates the pods. `labels` are added to the usual ones or
  // replace them; "" removes one. Throws std::runtime_error for a product without a table in
  // mig_hardware.h.
  void add_node(const GpuNode& node);
  // Removes the Node and its pods.
  void remove_node(const std::string& name);
  // The next `times` runs on the node have this fault; -1: all runs. Replaces an earlier call.
  void inject(const std::string& node, AgentFault fault, int times);
  // Reboots at once, whatever runs. Instances are lost; mig-manager creates them again.
  void reboot(const std::string& node);
  // The hardware's state: resource → number of whole devices or instances of the node's GPUs, named
  // as with strategy mixed.
  std::map<std::string, int> devices(const std::string& node) const;

 private:
  struct Parts;
  std::shared_ptr<Parts> parts_;  // the store knows it, weakly
};

}  // namespace berth::sim
