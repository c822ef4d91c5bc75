// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/target.h"

#include <fmt/format.h>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/fleet/allocatable.h"
#include "controller/fleet/geometry.h"
#include "controller/mig/agent_config.h"

namespace berth {
namespace {

std::string told_label(const Node& node, const char* key) {
  const Text* value = node.meta.labels.find(key);
  return value != nullptr ? fmt::format("{}={}", key, value->view())
                          : fmt::format("{} (not set)", key);
}

Target refused(const char* reason, std::string problem) {
  Target target;
  target.cause = {reason, std::move(problem)};
  return target;
}

}  // namespace

bool disables_mig(const MIGLayout& layout) {
  return layout.meta.deletion_timestamp &&
         layout.spec.deletion_policy == DeletionPolicy::kDisableMIG;
}

const Target& TargetResolver::resolve(const Node& node) {
  // A linear search, because a cluster has few kinds of nodes. Further kinds are resolved each
  // time.
  constexpr std::size_t kMaxKnown = 16;
  const InventoryTexts texts = inventory_texts(node);
  for (const auto& [known, target] : by_texts_)
    if (known == texts) return *target;
  const Target& target = resolve_inventory(node);
  if (by_texts_.size() < kMaxKnown) by_texts_.emplace_back(texts, &target);
  return target;
}

const Target& TargetResolver::resolve_inventory(const Node& node) {
  std::optional<Inventory> inventory = inventory_of(node);
  Kind kind;
  if (inventory) {
    const std::optional<MigStrategy> strategy = strategy_of(cluster_, node);
    kind = {inventory->product, inventory->count, inventory->memory_mib, strategy,
            strategy ? std::string() : std::string(label_of(node, names::kMigStrategy))};
  } else {
    std::get<4>(kind) = fmt::format("{} and {}", told_label(node, names::kGpuProduct),
                                    told_label(node, names::kGpuCount));
  }
  std::unique_ptr<Target>& target = targets_[kind];
  if (target == nullptr) target = std::make_unique<Target>(resolve_kind(kind));
  return *target;
}

Target TargetResolver::resolve_kind(const Kind& kind) const {
  const auto& [product_label, gpu_count, memory_mib, strategy, unclear] = kind;
  if (product_label.empty())
    return refused(reasons::kInventoryUnknown,
                   fmt::format("labels {} don't show the physical GPUs; wait for "
                               "gpu-feature-discovery, or write annotation {} by hand",
                               unclear, names::kInventoryAnnotation));
  Result<const Product*> product = require_product(product_label, memory_mib);
  if (!product) return refused(reasons::kUnknownProduct, describe(product.error()));
  if (!strategy && !unclear.empty())
    return refused(reasons::kInvalidLayout,
                   fmt::format("label {}={} must be none, single or mixed, and no ClusterPolicy "
                               "names the MIG strategy; set its spec.mig.strategy (mixed fits "
                               "every layout)",
                               names::kMigStrategy, unclear));
  if (!strategy)
    return refused(reasons::kInvalidLayout,
                   fmt::format("neither label {} nor a ClusterPolicy names the MIG strategy; set "
                               "spec.mig.strategy of the ClusterPolicy (mixed fits every layout)",
                               names::kMigStrategy));
  static const std::vector<DeviceLayout> kOff{DeviceLayout{}};
  Result<NodeLayout> layout =
      resolve_layout(disables_mig(layout_) ? kOff : layout_.spec.devices, **product, gpu_count);
  if (!layout) return refused(reasons::kInvalidLayout, describe(layout.error()));
  Result<void> fits = check_strategy(*layout, *strategy);
  if (!fits) return refused(reasons::kInvalidLayout, describe(fits.error()));

  Target target;
  target.product = product_label;
  target.model = *product;
  target.layout = *std::move(layout);
  target.strategy = *strategy;
  target.content = render_config(target.layout);
  target.config =
      disables_mig(layout_) ? names::kAllDisabled : config_name(layout_.meta.name, target.content);
  return target;
}

const std::map<std::string, std::int64_t>& TargetResolver::expected(const Target& target,
                                                                    const Node& node) {
  const Sharing sharing = read_sharing(node.meta.labels);
  if (!sharing.empty())
    return shared_ = expected_allocatable(target.layout, target.strategy, sharing);
  auto [entry, is_new] = unshared_.try_emplace(&target);
  if (is_new) entry->second = expected_allocatable(target.layout, target.strategy, sharing);
  return entry->second;
}

std::optional<std::string> TargetResolver::mismatch(const Target& target, const Node& node) {
  return allocatable_mismatch(expected(target, node), node.allocatable);
}

bool TargetResolver::offers_no_more(const Target& target, const Node& node) {
  return allocatable_within(expected(target, node), node.allocatable);
}

std::map<std::string, std::int64_t> expected_without_mig(const Node& node,
                                                         const Inventory& inventory) {
  NodeLayout off;
  off.per_gpu.resize(static_cast<std::size_t>(inventory.count));
  return expected_allocatable(off, MigStrategy::kMixed, read_sharing(node.meta.labels));
}

}  // namespace berth
