// SPDX-License-Identifier: Apache-2.0
// The policy's plan for the content of berth's caches.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controller/policy/plugin_config.h"
#include "tests/mig/planned_cluster.h"
#include "tests/policy/policy_yaml.h"

namespace berth::test {

inline constexpr char kRenderedAt[] = "gpu.berth.dev/rendered-at";
inline constexpr char kSliced[] =
    "pools: [{name: dev, nodeSelector: {matchLabels: {tier: mig}}, sharing: {strategy: "
    "TimeSlicing, replicas: 4}}]";

// "jsonpatch Node/n1: why", in order.
inline std::vector<std::string> writes(const Plan& plan) {
  std::vector<std::string> told;
  for (const ObjectSteps& object : plan.objects)
    for (const Step& step : object.steps)
      if (const auto* write = std::get_if<Write>(&step))
        told.push_back(
            fmt::format("{} {}: {}", to_string(write->verb), write->object.str(), write->reason));
  return told;
}

inline std::string status(const Plan& plan) {
  return plan.statuses.empty() ? "" : plan.statuses.front().body;
}

// A node with everything that pool "dev" asks for, except the device plugin's config.
inline NodeBuilder in_dev(const std::string& name) {
  return node(name)
      .a100_80(4)
      .label("tier", "mig")
      .label(names::kPoolLabel, "dev")
      .annotation(
          names::kPoolKeysAnnotation,
          R"({"pool":"dev","labels":{"gpu.berth.dev/pool":"dev"},"taints":[],"corrections":0})");
}

inline DaemonSet device_plugin(const std::string& config_map) {
  DaemonSet plugin;
  plugin.meta.name = "nvidia-device-plugin-daemonset";
  plugin.meta.namespace_ = "gpu-operator";
  plugin.meta.uid = "uid-plugin";
  if (!config_map.empty()) plugin.config_map_volumes = {Text(config_map)};
  return plugin;
}

inline ClusterPolicy nvidia(const std::string& plugin_file, const std::string& strategy = "") {
  ClusterPolicy policy;
  policy.meta.name = "cluster-policy";
  policy.meta.uid = "uid-nvidia";
  policy.mig_strategy = strategy;
  policy.device_plugin_config_map = plugin_file;
  policy.operand_tolerations = {{"nvidia.com/gpu", "Exists", {}, "NoSchedule"}};
  return policy;
}

class Policy : public ::testing::Test {
 protected:
  Policy() { cluster.add(device_plugin(AgentsSpec().device_plugin_config_map)); }
  // The device plugin's file as the policy asks for it, written long ago.
  void serve(const GPUClusterPolicy& policy) {
    ConfigMap file;
    file.meta.name = policy.spec.agents.device_plugin_config_map;
    file.meta.namespace_ = cluster.settings.agents_namespace;
    file.meta.uid = "uid-file";
    file.meta.annotations.set(kRenderedAt, "2026-11-20T12:00:00.000000Z");
    file.data = plugin_configs(policy.spec.pools, {}, {});
    cluster.add(file);
  }
  std::vector<std::string> labelled() {
    std::vector<std::string> nodes;
    for (const std::string& write : writes(cluster.plan("policy")))
      if (write.find("Node/") != write.npos)
        nodes.push_back(write.substr(write.find("n")).substr(0, write.find(':') - write.find("n")));
    return nodes;
  }
  void add_dev_nodes(int count) {
    for (int i = 1; i <= count; ++i) cluster.add(in_dev(fmt::format("n{}", i)));
  }
  PlannedCluster cluster;
};

}  // namespace berth::test
