// SPDX-License-Identifier: Apache-2.0
#include "controller/fleet/node_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "apis/base/names.h"
#include "controller/core/flat_json.h"
#include "controller/core/json_patch.h"
#include "controller/core/seeded_bugs.h"
#include "controller/fleet/cloud_gpus.h"
#include "controller/fleet/geometry.h"

namespace berth {
namespace {

constexpr char kGpuMemory[] = "nvidia.com/gpu.memory";

// Taints of autoscalers, and of components that receive a cloud's notices, on nodes that are about
// to go.
constexpr std::string_view kDeletionTaints[] = {
    "ToBeDeletedByClusterAutoscaler",
    "karpenter.sh/disrupted",
    "karpenter.sh/disruption",
    "aws-node-termination-handler/spot-itn",
    "aws-node-termination-handler/scheduled-maintenance",
    "aws-node-termination-handler/asg-lifecycle-termination",
    "cloud.google.com/impending-node-termination",
    "remediator.kubernetes.azure.com/unschedulable",
};
// A notice may or may not follow this taint, so running pods stay.
constexpr std::string_view kRiskTaint = "aws-node-termination-handler/rebalance-recommendation";

std::optional<std::int64_t> positive_number(std::string_view text) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value <= 0) return std::nullopt;
  return value;
}

std::optional<Inventory> labelled_inventory(const Node& node) {
  std::string_view product = label_of(node, names::kGpuProduct);
  std::optional<std::int64_t> count = positive_number(label_of(node, names::kGpuCount));
  if (product.empty() || product.find("-MIG-") != product.npos || !count || *count > kMaxGpusOfNode)
    return std::nullopt;
  return Inventory{strip_product_suffix(product), static_cast<std::int32_t>(*count),
                   positive_number(label_of(node, kGpuMemory))};
}

std::optional<Inventory> recorded_inventory(const Node& node) {
  const Text* text = node.meta.annotations.find(names::kInventoryAnnotation);
  if (text == nullptr) return std::nullopt;
  std::optional<FlatJson> json = FlatJson::parse(text->view());
  if (!json) return std::nullopt;
  Inventory inventory;
  inventory.product = json->string("product");
  const std::int64_t count = json->number("count");
  if (json->has("memoryMiB")) inventory.memory_mib = json->number("memoryMiB");
  if (json->wrong() || inventory.product.empty() || count <= 0 || count > kMaxGpusOfNode)
    return std::nullopt;
  inventory.count = static_cast<std::int32_t>(count);
  return inventory;
}

std::optional<Inventory> inventory_by_cloud(const Node& node) {
  const CloudGpus gpus = cloud_gpus_of(node);
  if (gpus.product.empty() || !gpus.count) return std::nullopt;
  return Inventory{std::string(gpus.product), static_cast<std::int32_t>(*gpus.count), {}};
}

// Returns an empty text if the node has NVIDIA's label, which takes precedence.
Text cloud_text(const Node& node) {
  if (node.meta.labels.contains(names::kGpuProduct)) return {};
  const CloudGpus gpus = cloud_gpus_of(node);
  return gpus.product.empty() ? Text()
                              : Text(fmt::format("{} {}", gpus.product, gpus.count.value_or(0)));
}

std::string encode_inventory(const Inventory& inventory) {
  return fmt::format(
      R"({{"product":{},"count":{}{}}})", quote_json(inventory.product), inventory.count,
      inventory.memory_mib ? fmt::format(R"(,"memoryMiB":{})", *inventory.memory_mib) : "");
}

}  // namespace

std::string_view label_of(const Node& node, std::string_view key) {
  const Text* value = node.meta.labels.find(key);
  return value != nullptr ? value->view() : std::string_view();
}

std::optional<Inventory> inventory_of(const Node& node) {
  if (std::optional<Inventory> labelled = labelled_inventory(node)) return labelled;
  if (std::optional<Inventory> recorded = recorded_inventory(node)) return recorded;
  return label_of(node, names::kGpuProduct).empty() ? inventory_by_cloud(node) : std::nullopt;
}

std::int64_t gpus_at_most(const Node& node) {
  if (const std::optional<Inventory> inventory = inventory_of(node)) return inventory->count;
  const auto offered = node.capacity.get(kGpuResource).as_whole();
  return offered && *offered > 0 ? std::min(*offered, kMaxGpusOfNode) : kMaxGpusOfNode;
}

InventoryTexts inventory_texts(const Node& node) {
  const StringMap& labels = node.meta.labels;
  return {labels.get(names::kGpuProduct),
          labels.get(names::kGpuCount),
          labels.get(kGpuMemory),
          labels.get(names::kMigStrategy),
          node.meta.annotations.get(names::kInventoryAnnotation),
          cloud_text(node)};
}

std::optional<std::string> inventory_to_record(const Node& node) {
  std::optional<Inventory> labelled = labelled_inventory(node);
  if (!labelled || labelled == recorded_inventory(node)) return std::nullopt;
  return encode_inventory(*labelled);
}

bool has_gpus(const Node& node) {
  return !label_of(node, names::kGpuProduct).empty() ||
         label_of(node, names::kGpuPresent) == "true" || recorded_inventory(node).has_value() ||
         !cloud_gpus_of(node).product.empty();
}

std::string_view single_profile(const Node& node) {
  constexpr std::string_view kMig = "-MIG-", kSharedProduct = "-SHARED";
  std::string_view label = label_of(node, names::kGpuProduct);
  const std::size_t at = label.find(kMig);
  if (at == label.npos) return {};
  label.remove_prefix(at + kMig.size());
  if (label.ends_with(kSharedProduct)) label.remove_suffix(kSharedProduct.size());
  return label;
}

std::optional<MigStrategy> strategy_of(const ClusterState& cluster, const Node& node) {
  if (auto strategy = parse_mig_strategy(label_of(node, names::kMigStrategy))) return strategy;
  for (const auto& policy : cluster.cluster_policies())
    if (auto strategy = parse_mig_strategy(policy->mig_strategy)) return strategy;
  return std::nullopt;
}

std::vector<std::string> paused_labels(const Node& node) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : node.meta.labels)
    if (value == names::kPausedForMigChange &&
        std::ranges::find(names::kPausedOperands, key.view()) != std::end(names::kPausedOperands))
      keys.push_back(key.str());
  return keys;
}

std::string driver_upgrade(const Node& node) {
  if (seeded(SeededBug::kIgnoreUpgrade)) return {};
  std::string_view state = label_of(node, names::kDriverUpgradeState);
  if (!state.empty() && state != "upgrade-done")
    return fmt::format("{}={}", names::kDriverUpgradeState, state);
  for (const auto& [key, value] : node.meta.labels)
    if (value == names::kPausedForDriverUpgrade && key.view().starts_with(names::kDeployPrefix))
      return fmt::format("{}={}", key.view(), value.view());
  return {};
}

std::string deletion_mark(const Node& node) {
  if (seeded(SeededBug::kIgnoreUpgrade)) return {};
  if (node.meta.deletion_timestamp) return "metadata.deletionTimestamp";
  for (const Taint& taint : node.taints)
    if (std::ranges::find(kDeletionTaints, taint.key.view()) != std::end(kDeletionTaints))
      return fmt::format("taint {}", taint.key.view());
  return {};
}

std::string departure_mark(const Node& node) {
  if (seeded(SeededBug::kIgnoreDepartures)) return {};
  if (std::string mark = deletion_mark(node); !mark.empty()) return mark;
  for (const Taint& taint : node.taints)
    if (taint.key == kRiskTaint) return fmt::format("taint {}", kRiskTaint);
  return {};
}

bool has_one_numa_node(const Node& node) {
  const bool looked_at = std::ranges::any_of(node.meta.labels, [](const auto& label) {
    return label.first.view().starts_with(names::kFeaturePrefix);
  });
  return looked_at && label_of(node, names::kNumaLabel) != "true";
}

bool offers_gpus(const Node& node) { return !gpus_in(node.allocatable).empty(); }

}  // namespace berth
