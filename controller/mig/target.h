// SPDX-License-Identifier: Apache-2.0
// Target: what a layout means on one node: the config's name and content, and what the node will
// offer. Resolved once per kind of node; two thousand nodes are usually one or two kinds.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "controller/core/cause.h"
#include "controller/core/snapshot.h"
#include "controller/fleet/node_facts.h"
#include "controller/fleet/node_layout.h"

namespace berth {

struct Target {
  // Set when the layout can't be laid out on the node: InventoryUnknown, UnknownProduct or
  // InvalidLayout, with a sentence that names the field.
  Cause cause;

  std::string product;
  const Product* model = nullptr;  // the product's row in the tables; set if ok()
  std::string config;              // name in the mig-parted file
  std::string content;             // its entry's text
  NodeLayout layout;
  MigStrategy strategy = MigStrategy::kMixed;

  bool ok() const { return cause.reason.empty(); }
};

// While a layout with deletionPolicy DisableMIG is being deleted, its target is MIG off.
bool disables_mig(const MIGLayout& layout);

class TargetResolver {
 public:
  TargetResolver(const ClusterState& cluster, const MIGLayout& layout)
      : cluster_(cluster), layout_(layout) {}

  // Valid as long as the resolver.
  const Target& resolve(const Node& node);
  // Whether the node's allocatable is what the target promises; nothing if so, else each
  // difference.
  std::optional<std::string> mismatch(const Target& target, const Node& node);
  // Whether it offers nothing that the target does not promise. What it lacks may come back: a
  // device plugin that restarts offers nothing for a while.
  bool offers_no_more(const Target& target, const Node& node);

 private:
  // At last what the labels say where that can't be made out, and nothing otherwise.
  using Kind = std::tuple<std::string, std::int32_t, std::optional<std::int64_t>,
                          std::optional<MigStrategy>, std::string>;
  const Target& resolve_inventory(const Node& node);
  Target resolve_kind(const Kind& kind) const;
  const std::map<std::string, std::int64_t>& expected(const Target& target, const Node& node);

  const ClusterState& cluster_;
  const MIGLayout& layout_;
  std::map<Kind, std::unique_ptr<Target>> targets_;
  // Nodes with the same texts are of the same kind: most are told without reading them.
  std::vector<std::pair<InventoryTexts, const Target*>> by_texts_;
  // What an unshared node of the target offers: most nodes share nothing.
  std::map<const Target*, std::map<std::string, std::int64_t>> unshared_;
  std::map<std::string, std::int64_t> shared_;  // what the last node that shares offers
};

// MIG off on every GPU: entry all-disabled.
std::map<std::string, std::int64_t> expected_without_mig(const Node& node,
                                                         const Inventory& inventory);

}  // namespace berth
