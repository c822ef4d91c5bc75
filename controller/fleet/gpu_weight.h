// SPDX-License-Identifier: Apache-2.0
// GpuWeight: how much of a GPU one unit of a resource is, in millionths of a GPU (kWholeGpu).
// Quotas of the class `gpu`, costs, utilization and advice all count GPUs by this weight only.
//
// The rule: a MIG instance counts as the memory units that its profile takes, divided by the units
// of the product (geometry.h, from NVIDIA's MIG user guide). The rule uses memory because memory
// limits what else fits on the GPU: a 3g.40gb of an 80 GB A100 leaves one half, though it has three
// of seven compute slices. A replica of a device that time-slicing or MPS shares is an equal part
// of the device. Parts are rounded down, so all parts of a GPU are at most one GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "apis/kinds/core.h"
#include "controller/fleet/geometry.h"

namespace berth {

// Returns the weight of one unit of the resource on the node; nothing: the node's labels do not say
// it.
std::optional<std::int64_t> gpu_weight(const Node& node, std::string_view resource);

// Returns the weight of one MIG instance of the profile ("1g.10gb") on the node, however many pods
// share it; nothing: the product is unknown or has no such profile.
std::optional<std::int64_t> instance_weight(const Node& node, std::string_view profile);

std::int64_t profile_weight(const Product& product, const Profile& profile);

// The weights of one node. It derives each from the labels once. The node must outlive it.
class GpuWeights {
 public:
  explicit GpuWeights(const Node& node) : node_(node) {}
  std::optional<std::int64_t> of(const Text& resource);
  std::optional<std::int64_t> of_instance(const Text& profile);

 private:
  using Known = std::vector<std::pair<Text, std::optional<std::int64_t>>>;  // few entries
  const Node& node_;
  Known resources_;
  Known instances_;
};

}  // namespace berth
