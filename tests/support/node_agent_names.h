// SPDX-License-Identifier: Apache-2.0
// Shared by the three files of the node agent: names of NVIDIA's labels and pods, builders of small
// patches, and the text of the annotation with the hardware state.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/node_agent.h"

namespace berth::test {

inline constexpr char kMigConfig[] = "nvidia.com/mig.config";
inline constexpr char kMigState[] = "nvidia.com/mig.config.state";
inline constexpr char kFault[] = "test.berth.dev/fault";
inline constexpr char kInstances[] = "test.berth.dev/instances";

inline bool past(const std::optional<NodeAgent::Clock::time_point>& due) {
  return due.has_value() && *due <= NodeAgent::Clock::now();
}

inline nlohmann::json metadata_patch(const char* field, const std::string& key,
                                     nlohmann::json value) {
  nlohmann::json body;
  body["metadata"][field][key] = std::move(value);
  return body;
}

// The state of the GPUs as annotation text; without text, `count` GPUs with MIG off.
std::string encode_gpus(const std::vector<sim::Gpu>& gpus);
std::vector<sim::Gpu> decode_gpus(const std::string& text, int count);

}  // namespace berth::test
