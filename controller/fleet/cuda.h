// SPDX-License-Identifier: Apache-2.0
// CUDA: whether a node's driver can run what a container was built for. A container's needs are in
// NVIDIA_REQUIRE_CUDA as NVIDIA's images have it, "cuda>=12.4 brand=tesla,driver>=470":
// alternatives, of which all parts have to hold. Or they are in annotation
// gpu.berth.dev/required-cuda of its pod. The labels of GPU feature discovery say what
// a node has.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/kinds/core.h"

namespace berth {

inline constexpr std::string_view kRequireCuda = "NVIDIA_REQUIRE_CUDA";

// "12.4", "550.54.15"; missing parts count as zero.
using DriverVersion = std::vector<int>;
std::optional<DriverVersion> parse_version(std::string_view text);

struct NodeCuda {
  std::optional<DriverVersion> cuda;  // the highest version that the driver runs
  std::optional<DriverVersion> driver;
};
NodeCuda cuda_of(const Node& node);
// Returns "CUDA 12.2, driver 535.104.5"; empty if the labels say nothing.
std::string told(const NodeCuda& has);

// Whether the labels show that the requirement does not hold. Parts that the labels do not cover,
// or that berth does not know, count as met.
bool contradicts(std::string_view requirement, const NodeCuda& has);
// Returns the requirement for a version in the annotation: "cuda>=12.4"; nothing if it is not a
// version.
std::optional<std::string> cuda_at_least(std::string_view version);

}  // namespace berth
