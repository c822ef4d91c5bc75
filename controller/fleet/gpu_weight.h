// SPDX-License-Identifier: Apache-2.0
// GpuWeight: how much of a GPU one unit of a resource is, in millionths of a GPU (kWholeGpu).
// Quotas of the class `gpu`, costs, utilization and advice count GPUs by it and by nothing else.
//
// The rule: a MIG instance is the memory units that its profile takes, of the units of the product
// (geometry.h, from NVIDIA's MIG user guide). Memory, because it bounds what else fits onto the
// GPU: a 3g.40gb of an 80 GB A100 leaves one half, though it has three of seven compute slices.
// A replica of a device that time-slicing or MPS shares is an equal part of the device. Parts are
// rounded down, so that all parts of a GPU are one GPU at most.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "apis/kinds/core.h"
#include "controller/fleet/geometry.h"

namespace berth {

// One unit of the resource on the node; nothing if the node's labels don't tell.
std::optional<std::int64_t> gpu_weight(const Node& node, std::string_view resource);

// One MIG instance of the profile on the node ("1g.10gb"), however many share it; nothing if the
// product is unknown or has no such profile.
std::optional<std::int64_t> instance_weight(const Node& node, std::string_view profile);

std::int64_t profile_weight(const Product& product, const Profile& profile);

// The weights of one node, each derived from its labels once. The node outlives it.
class GpuWeights {
 public:
  explicit GpuWeights(const Node& node) : node_(node) {}
  std::optional<std::int64_t> of(const Text& resource);
  std::optional<std::int64_t> of_instance(const Text& profile);

 private:
  using Known = std::vector<std::pair<Text, std::optional<std::int64_t>>>;  // a handful
  const Node& node_;
  Known resources_;
  Known instances_;
};

}  // namespace berth
