// SPDX-License-Identifier: Apache-2.0
#include "controller/fleet/cloud_gpus.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "apis/base/names.h"

namespace berth {
namespace {

struct Row {
  std::string_view name;  // without the prefix nvidia- or tesla-
  std::string_view product;
};
// A name that is not listed may be of another vendor, so berth waits for NVIDIA's own labels.
constexpr Row kProducts[] = {
    {"a10", "NVIDIA-A10"},
    {"a100", "NVIDIA-A100-SXM4-40GB"},
    {"a100-80gb", "NVIDIA-A100-SXM4-80GB"},
    {"a10g", "NVIDIA-A10G"},
    {"b200", "NVIDIA-B200"},
    {"gb200", "NVIDIA-GB200"},
    {"h100", "NVIDIA-H100-80GB-HBM3"},
    {"h100-80gb", "NVIDIA-H100-80GB-HBM3"},
    {"h100-mega-80gb", "NVIDIA-H100-80GB-HBM3"},
    {"h200", "NVIDIA-H200"},
    {"h200-141gb", "NVIDIA-H200"},
    {"k80", "Tesla-K80"},
    {"l4", "NVIDIA-L4"},
    {"l40s", "NVIDIA-L40S"},
    {"m60", "Tesla-M60"},
    {"p100", "Tesla-P100-PCIE-16GB"},
    {"p4", "Tesla-P4"},
    {"t4", "Tesla-T4"},
    {"t4g", "NVIDIA-T4G"},
    {"v100", "Tesla-V100-SXM2-16GB"},
};
// In MiB: AWS has one name for both A100s.
constexpr std::string_view kMemoryLabels[] = {"eks.amazonaws.com/instance-gpu-memory",
                                              "karpenter.k8s.aws/instance-gpu-memory"};
constexpr std::int64_t kMoreThan40Gb = 50'000;
constexpr std::int64_t kMostGpus = 64;
// Labels of nodes that offer a GPU several times, or parts of it.
constexpr std::string_view kSharedLabels[] = {"cloud.google.com/gke-gpu-sharing-strategy",
                                              "cloud.google.com/gke-gpu-partition-size"};

template <std::size_t N>
std::string_view first_of(const Node& node, const std::string_view (&labels)[N]) {
  for (const std::string_view label : labels)
    if (const Text* value = node.meta.labels.find(label); value != nullptr && !value->empty())
      return value->view();
  return {};
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value <= 0) return std::nullopt;
  return value;
}

std::string_view product_of(const Node& node, std::string_view name) {
  for (const std::string_view prefix : {"nvidia-", "tesla-"})
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  if (name == "a100" && number(first_of(node, kMemoryLabels)).value_or(0) > kMoreThan40Gb)
    name = "a100-80gb";
  const auto* row = std::ranges::find(kProducts, name, &Row::name);
  return row == std::end(kProducts) ? std::string_view() : row->product;
}

std::optional<std::int64_t> count_of(const Node& node) {
  std::optional<std::int64_t> count = number(first_of(node, names::kCloudCountLabels));
  if (!count && first_of(node, kSharedLabels).empty())
    count = node.capacity.get(kGpuResource).as_whole();
  return count && *count > 0 && *count <= kMostGpus ? count : std::nullopt;
}

}  // namespace

CloudGpus cloud_gpus_of(const Node& node) {
  const std::string_view name = first_of(node, names::kCloudProductLabels);
  if (name.empty()) return {};
  const std::string_view product = product_of(node, name);
  if (product.empty()) return {};
  return {product, count_of(node)};
}

}  // namespace berth
