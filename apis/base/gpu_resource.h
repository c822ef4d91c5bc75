// SPDX-License-Identifier: Apache-2.0
// GpuResource: the extended resources with which NVIDIA's device plugin offers GPUs. Only these
// names are GPU resources: nvidia.com/gpu (whole GPUs, or all MIG instances with strategy
// `single`), nvidia.com/mig-PROFILE (strategy `mixed`), and both with .shared if replicas of shared
// devices are renamed. Other names with NVIDIA's prefix are not: "nvidia.com/gpumem" of another
// plugin is an amount of memory.
#pragma once

#include <cstdint>
#include <string_view>

namespace berth {

inline constexpr std::string_view kGpuResource = "nvidia.com/gpu";
inline constexpr std::string_view kSharedGpuResource = "nvidia.com/gpu.shared";
inline constexpr std::string_view kMigResources = "nvidia.com/mig-";  // plus the profile
inline constexpr std::string_view kSharedSuffix = ".shared";

// Amounts of GPUs are counted in millionths: controller/fleet/gpu_weight.h.
inline constexpr std::int64_t kWholeGpu = 1'000'000;

constexpr bool is_mig_resource(std::string_view resource) {
  return resource.starts_with(kMigResources);
}
constexpr bool is_gpu_resource(std::string_view resource) {
  return resource == kGpuResource || resource == kSharedGpuResource || is_mig_resource(resource);
}
constexpr bool is_shared_resource(std::string_view resource) {
  return resource.ends_with(kSharedSuffix);
}
// The resource without .shared: the name that the device plugin's configuration and the labels use.
constexpr std::string_view unshared_resource(std::string_view resource) {
  if (is_shared_resource(resource)) resource.remove_suffix(kSharedSuffix.size());
  return resource;
}

}  // namespace berth
