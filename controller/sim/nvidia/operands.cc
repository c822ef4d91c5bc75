// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/nvidia/operands.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "controller/sim/nvidia/mig_hardware.h"
#include "controller/sim/world/object_fields.h"

namespace berth::sim {
namespace {

using nlohmann::json;

constexpr char kDeploy[] = "nvidia.com/gpu.deploy.";

struct Operand {
  const char* name;    // of the DaemonSet, and its app label
  const char* deploy;  // the nvidia.com/gpu.deploy.X in its nodeSelector
};
constexpr Operand kOperands[] = {{kManagerApp, "mig-manager"},
                                 {kPluginApp, "device-plugin"},
                                 {kDiscoveryApp, "gpu-feature-discovery"},
                                 {kExporterApp, "dcgm-exporter"}};

json variable(const char* name, const std::string& value) {
  json out;
  out["name"] = name;
  out["value"] = value;
  return out;
}

void mount_config_map(const std::string& name, json& spec, json& container) {
  container["env"].push_back(variable("CONFIG_FILE", "/mig-parted-config/config.yaml"));
  json mount;
  mount["name"] = "mig-parted-config";
  mount["mountPath"] = "/mig-parted-config";
  container["volumeMounts"] = json::array({mount});
  json volume;
  volume["name"] = "mig-parted-config";
  volume["configMap"]["name"] = name;
  spec["volumes"] = json::array({volume});
}

void mount_plugin_config(const std::string& name, json& spec, json& container) {
  json mount;
  mount["name"] = "nvidia-device-plugin-config";
  mount["mountPath"] = "/available-configs";
  container["volumeMounts"] = json::array({mount});
  json volume;
  volume["name"] = mount["name"];
  volume["configMap"]["name"] = name;
  spec["volumes"] = json::array({volume});
}

json pod_spec(const Operand& operand, const OperandOptions& options) {
  json spec;
  json container;
  container["name"] = operand.name;
  container["image"] = fmt::format("nvcr.io/nvidia/{}:pretended", operand.name);
  json node_name;
  node_name["name"] = "NODE_NAME";
  node_name["valueFrom"]["fieldRef"]["fieldPath"] = "spec.nodeName";
  container["env"] = json::array({node_name});
  if (std::string_view(operand.name) == kManagerApp) {
    container["env"].push_back(variable("DEFAULT_GPU_CLIENTS_NAMESPACE", options.namespace_));
    if (!options.config_map.empty()) mount_config_map(options.config_map, spec, container);
  } else {
    container["env"].push_back(variable("MIG_STRATEGY", options.strategy));
    if (!options.plugin_config_map.empty())
      mount_plugin_config(options.plugin_config_map, spec, container);
  }
  spec["containers"] = json::array({container});
  spec["priorityClassName"] = "system-node-critical";
  spec["terminationGracePeriodSeconds"] = 1;
  json toleration;
  toleration["key"] = "nvidia.com/gpu";
  toleration["operator"] = "Exists";
  toleration["effect"] = "NoSchedule";
  spec["tolerations"] = json::array({toleration});
  spec["nodeSelector"][std::string(kDeploy) + operand.deploy] = "true";
  return spec;
}

// "false" is someone's choice and stays. Any other value, or none, becomes `value`. Only the label
// for other clients must already exist.
json deploy_patch(const json& node, const char* value) {
  json body;
  for (const char* operand :
       {"device-plugin", "gpu-feature-discovery", "dcgm-exporter", "dcgm", "nvsm", "client"}) {
    const std::string key = std::string(kDeploy) + operand;
    const std::string before = text_at(node, {"metadata", "labels", key.c_str()});
    const bool must_be_there = std::string_view(operand) == "client";
    if (before == "false" || (before.empty() && must_be_there)) continue;
    body["metadata"]["labels"][key] = value;
  }
  return body;
}

}  // namespace

std::vector<json> operand_daemon_sets(const OperandOptions& options) {
  std::vector<json> out;
  for (const Operand& operand : kOperands) {
    if (operand.name == std::string_view(kExporterApp) && !options.exporters) continue;
    json& set = out.emplace_back();
    set["apiVersion"] = "apps/v1";
    set["kind"] = "DaemonSet";
    set["metadata"]["name"] = operand.name;
    set["metadata"]["namespace"] = options.namespace_;
    set["metadata"]["labels"]["app"] = operand.name;
    set["spec"]["selector"]["matchLabels"]["app"] = operand.name;
    set["spec"]["template"]["metadata"]["labels"]["app"] = operand.name;
    set["spec"]["template"]["spec"] = pod_spec(operand, options);
  }
  return out;
}

std::map<std::string, std::string> deploy_labels() {
  std::map<std::string, std::string> out;
  for (const char* operand :
       {"driver", "gpu-feature-discovery", "container-toolkit", "device-plugin", "dcgm",
        "dcgm-exporter", "node-status-exporter", "operator-validator", "client", "mig-manager"})
    out[std::string(kDeploy) + operand] = "true";
  return out;
}

std::map<std::string, std::string> usual_node_labels(
    const std::string& name, const std::string& product, int gpus, const std::string& strategy,
    const std::map<std::string, std::string>& own) {
  auto labels = discovery_labels(product_of(product),
                                 std::vector<Gpu>(static_cast<std::size_t>(gpus)), strategy);
  labels.merge(deploy_labels());
  labels["kubernetes.io/hostname"] = name;
  labels["kubernetes.io/os"] = "linux";
  labels["kubernetes.io/arch"] = "amd64";
  labels["feature.node.kubernetes.io/pci-10de.present"] = "true";
  labels["nvidia.com/gpu.present"] = "true";
  labels["nvidia.com/gfd.timestamp"] = "1700000000";
  labels["nvidia.com/gpu-driver-upgrade-state"] = "upgrade-done";
  labels["nvidia.com/mig.config"] = "all-disabled";
  labels["nvidia.com/mig.config.state"] = "success";
  for (const auto& [key, value] : own) {
    if (value.empty())
      labels.erase(key);
    else
      labels[key] = value;
  }
  return labels;
}

json pause_patch(const json& node) { return deploy_patch(node, "paused-for-mig-change"); }

json restore_patch(const json& node) { return deploy_patch(node, "true"); }

}  // namespace berth::sim
