// SPDX-License-Identifier: Apache-2.0
// What NVIDIA's GPU operator puts into a cluster, as objects: the DaemonSets of its operands, the
// labels of a GPU node, and those of them by which mig-manager pauses the GPU's clients.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "controller/sim/pod_address.h"

namespace berth::sim {

// Apps of the agents' pods, as their DaemonSets label them.
inline constexpr char kManagerApp[] = "nvidia-mig-manager";
inline constexpr char kPluginApp[] = "nvidia-device-plugin-daemonset";
inline constexpr char kDiscoveryApp[] = "gpu-feature-discovery";
// Those whose pods mig-manager waits for.
inline constexpr const char* kClientApps[] = {kPluginApp, kDiscoveryApp, kExporterApp,
                                              "nvidia-dcgm"};

struct OperandOptions {
  std::string namespace_ = "gpu-operator";
  std::string strategy = "mixed";                      // MIG_STRATEGY
  std::string config_map = "berth-mig-parted-config";  // mig-manager mounts it; empty: NVIDIA's own
  // The device plugin and GPU feature discovery mount it; empty: none.
  std::string plugin_config_map = "berth-device-plugin-config";
  bool exporters = false;
};
std::vector<nlohmann::json> operand_daemon_sets(const OperandOptions& options);

// The values of nvidia.com/gpu.deploy.X that the operator gives every GPU node.
std::map<std::string, std::string> deploy_labels();
// Of a node with MIG off: what node feature discovery, GPU feature discovery and the operator
// write. `own` replaces what is usual; an empty value takes it away.
std::map<std::string, std::string> usual_node_labels(const std::string& name,
                                                     const std::string& product, int gpus,
                                                     const std::string& strategy,
                                                     const std::map<std::string, std::string>& own);

// Patches of a node by which mig-manager takes the GPU's clients away and gives them back.
nlohmann::json pause_patch(const nlohmann::json& node);
nlohmann::json restore_patch(const nlohmann::json& node);

}  // namespace berth::sim
