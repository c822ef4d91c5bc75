// SPDX-License-Identifier: Apache-2.0
// PluginSharing: how NVIDIA's device plugin shares one node's GPUs. The node's label
// nvidia.com/device-plugin.config names a key of the plugin's ConfigMap. The simulation reads the
// present ConfigMap and does not model the kubelet's delay.
#pragma once

#include <map>
#include <string>

#include "controller/sim/nvidia/gpu_agents.h"
#include "controller/sim/world/store.h"

namespace berth::sim {

struct PluginSharing {
  bool crashes = false;                 // the label names a key that does not exist
  std::string strategy = "none";        // in discovery's labels: "time-slicing", "mps"
  bool renames = false;                 // nvidia.com/gpu becomes nvidia.com/gpu.shared
  std::map<std::string, int> replicas;  // by resource

  // The resources that the plugin offers for these devices.
  std::map<std::string, int> offered(const std::map<std::string, int>& devices) const;
  // Changes discovery's labels for sharing.
  void relabel(std::map<std::string, std::string>& labels) const;
};

// `key` is the label's value; empty: no sharing.
PluginSharing read_plugin_sharing(const Store& store, const GpuAgentOptions& options,
                                  const std::string& key);

}  // namespace berth::sim
