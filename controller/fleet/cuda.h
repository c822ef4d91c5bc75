// SPDX-License-Identifier: Apache-2.0
// CUDA: whether a node's driver can run what a container was built for. What a container needs
// stands in NVIDIA_REQUIRE_CUDA as NVIDIA's images have it, "cuda>=12.4 brand=tesla,driver>=470":
// alternatives, of which all parts have to hold; or in annotation gpu.berth.dev/required-cuda of
// its pod. What a node has, GPU feature discovery tells by labels.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/core.h"

namespace berth {

inline constexpr std::string_view kRequireCuda = "NVIDIA_REQUIRE_CUDA";

// "12.4", "550.54.15": parts that are missing are zero.
using DriverVersion = std::vector<int>;
std::optional<DriverVersion> parse_version(std::string_view text);

struct NodeCuda {
  std::optional<DriverVersion> cuda;  // the most that the driver runs
  std::optional<DriverVersion> driver;
};
NodeCuda cuda_of(const Node& node);
// "CUDA 12.2, driver 535.104.5"; empty: the labels say nothing.
std::string told(const NodeCuda& has);

// Whether the labels say that it does not hold. What they don't tell, or berth does not know,
// holds.
bool contradicts(std::string_view requirement, const NodeCuda& has);
// The requirement that a version in the annotation is: "cuda>=12.4"; nothing if it is no version.
std::optional<std::string> cuda_at_least(std::string_view version);

}  // namespace berth
