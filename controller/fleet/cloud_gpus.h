// SPDX-License-Identifier: Apache-2.0
// CloudGpus: a node's GPUs by a cloud's own labels, in the terms of NVIDIA's labels. These labels
// exist before GPU feature discovery has run, and where it never runs: those of GKE, EKS, and
// Karpenter and the cluster autoscaler on AWS.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "apis/kinds/core.h"

namespace berth {

struct CloudGpus {
  std::string_view product;  // as in label nvidia.com/gpu.product; empty: none, or not known
  std::optional<std::int64_t> count;
  bool operator==(const CloudGpus&) const = default;
};
CloudGpus cloud_gpus_of(const Node& node);

}  // namespace berth
