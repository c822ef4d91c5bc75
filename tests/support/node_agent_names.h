// SPDX-License-Identifier: Apache-2.0
// What the three files of the node agent share: names of NVIDIA's labels and pods, the shapes of
// small patches, and the text of the annotation that is the hardware.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/node_agent.h"

namespace berth::test {

inline constexpr char kMigConfig[] = "nvidia.com/mig.config";
inline constexpr char kMigState[] = "nvidia.com/mig.config.state";
inline constexpr char kPaused[] = "paused-for-mig-change";
inline constexpr char kFault[] = "test.berth.dev/fault";
inline constexpr char kInstances[] = "test.berth.dev/instances";
inline constexpr char kPluginApp[] = "nvidia-device-plugin-daemonset";
inline constexpr char kDiscoveryApp[] = "gpu-feature-discovery";
inline constexpr char kManagerApp[] = "nvidia-mig-manager";
inline constexpr const char* kClientApps[] = {kPluginApp, kDiscoveryApp, "nvidia-dcgm-exporter",
                                              "nvidia-dcgm"};
inline constexpr const char* kDeployLabels[] = {
    "nvidia.com/gpu.deploy.device-plugin", "nvidia.com/gpu.deploy.gpu-feature-discovery",
    "nvidia.com/gpu.deploy.dcgm-exporter", "nvidia.com/gpu.deploy.dcgm",
    "nvidia.com/gpu.deploy.nvsm"};
inline constexpr char kDeployClient[] = "nvidia.com/gpu.deploy.client";

inline bool past(const std::optional<NodeAgent::Clock::time_point>& due) {
  return due.has_value() && *due <= NodeAgent::Clock::now();
}

inline bool is_gpu_resource(const std::string& key) { return key.rfind("nvidia.com/", 0) == 0; }

inline nlohmann::json metadata_patch(const char* field, const std::string& key,
                                     nlohmann::json value) {
  nlohmann::json body;
  body["metadata"][field][key] = std::move(value);
  return body;
}

// The state of the GPUs as the annotation keeps it; `count` GPUs with MIG off if there is no text.
std::string encode_gpus(const std::vector<sim::Gpu>& gpus);
std::vector<sim::Gpu> decode_gpus(const std::string& text, int count);

}  // namespace berth::test
