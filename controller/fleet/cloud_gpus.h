// SPDX-License-Identifier: Apache-2.0
// CloudGpus: what a cloud's own labels say of a node's GPUs, in the words of NVIDIA's labels. They
// are there before GPU feature discovery has run, and where it never does: GKE's, EKS', and those
// of Karpenter and the cluster autoscaler on AWS.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "apis/core.h"

namespace berth {

struct CloudGpus {
  std::string_view product;  // as label nvidia.com/gpu.product has it; empty: none that is known
  std::optional<std::int64_t> count;
  bool operator==(const CloudGpus&) const = default;
};
CloudGpus cloud_gpus_of(const Node& node);

}  // namespace berth
