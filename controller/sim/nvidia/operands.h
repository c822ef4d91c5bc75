// SPDX-License-Identifier: Apache-2.0
// Operands: the objects of NVIDIA's GPU operator: the DaemonSets of its operands, the labels of a
// GPU node, and the labels with which mig-manager pauses the GPU's clients.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "controller/sim/kube/pod_address.h"

namespace berth::sim {

// App labels of the pods of NVIDIA's node components, from their DaemonSets.
inline constexpr char kManagerApp[] = "nvidia-mig-manager";
inline constexpr char kPluginApp[] = "nvidia-device-plugin-daemonset";
inline constexpr char kDiscoveryApp[] = "gpu-feature-discovery";
// The apps whose pods mig-manager waits for.
inline constexpr const char* kClientApps[] = {kPluginApp, kDiscoveryApp, kExporterApp,
                                              "nvidia-dcgm"};

struct OperandOptions {
  std::string namespace_ = "gpu-operator";
  std::string strategy = "mixed";  // MIG_STRATEGY
  // mounted by mig-manager; empty: NVIDIA's default
  std::string config_map = "berth-mig-parted-config";
  // Mounted by the device plugin and GPU feature discovery; empty: none.
  std::string plugin_config_map = "berth-device-plugin-config";
  bool exporters = false;
};
std::vector<nlohmann::json> operand_daemon_sets(const OperandOptions& options);

// The values of nvidia.com/gpu.deploy.X that the operator sets on every GPU node.
std::map<std::string, std::string> deploy_labels();
// The labels of a node with MIG off, from node feature discovery, GPU feature discovery and the
// operator. `own` replaces the usual ones; an empty value removes a label.
std::map<std::string, std::string> usual_node_labels(const std::string& name,
                                                     const std::string& product, int gpus,
                                                     const std::string& strategy,
                                                     const std::map<std::string, std::string>& own);

// Patches with which mig-manager pauses and restores a node's GPU clients.
nlohmann::json pause_patch(const nlohmann::json& node);
nlohmann::json restore_patch(const nlohmann::json& node);

}  // namespace berth::sim
