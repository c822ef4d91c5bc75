// SPDX-License-Identifier: Apache-2.0
// PluginSharing: how NVIDIA's device plugin shares one node's GPUs: as the key of its ConfigMap
// says that the node's label nvidia.com/device-plugin.config names. The file is read as it stands:
// how late kubelets bring it is not modelled.
#pragma once

#include <map>
#include <string>

#include "controller/sim/gpu_agents.h"
#include "controller/sim/store.h"

namespace berth::sim {

struct PluginSharing {
  bool crashes = false;                 // the label names a key that is not there
  std::string strategy = "none";        // as discovery shows it: "time-slicing", "mps"
  bool renames = false;                 // nvidia.com/gpu becomes nvidia.com/gpu.shared
  std::map<std::string, int> replicas;  // by resource

  // What the plugin offers of these devices.
  std::map<std::string, int> offered(const std::map<std::string, int>& devices) const;
  // What discovery makes of its labels.
  void relabel(std::map<std::string, std::string>& labels) const;
};

// `key` is the label's value; none, and nothing is shared.
PluginSharing read_plugin_sharing(const Store& store, const GpuAgentOptions& options,
                                  const std::string& key);

}  // namespace berth::sim
