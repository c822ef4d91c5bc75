// SPDX-License-Identifier: Apache-2.0
// Reads a device plugin's config file by the rules of NVIDIA's own loader: it ignores unknown keys,
// and fails where the loader fails.
// Source: NVIDIA/k8s-device-plugin api/config/v1 (config.go, replicas.go, sharing.go),
// internal/rm/rm.go, cmd/mps-control-daemon/mps.
#pragma once

#include <map>
#include <string>

namespace berth::test {

struct LoadedPluginConfig {
  std::string error;  // empty: the plugin starts
  std::string mig_strategy = "none";
  std::string sharing = "none";  // "time-slicing", "mps"
  // The resources that a node with these devices advertises, by their final names.
  std::map<std::string, int> advertised(const std::map<std::string, int>& devices) const;

  bool renamed = false;
  std::map<std::string, int> replicas;  // by resource
};

LoadedPluginConfig load_plugin_config(const std::string& text);

}  // namespace berth::test
