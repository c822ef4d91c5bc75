// SPDX-License-Identifier: Apache-2.0
// Target: what a layout means for one node: the config's name and content, and what the node will
// offer. It is resolved once per kind of node. Two thousand nodes usually have one or two kinds.
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
  // Set if the layout is not possible on the node: InventoryUnknown, UnknownProduct or
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

  // The reference is valid as long as the resolver.
  const Target& resolve(const Node& node);
  // Returns nothing if the node's allocatable is what the target promises; otherwise the
  // differences.
  std::optional<std::string> mismatch(const Target& target, const Node& node);
  // Whether the node offers nothing beyond the target's promise. Missing resources may come back: a
  // restarting device plugin offers nothing for a while.
  bool offers_no_more(const Target& target, const Node& node);

 private:
  // The last member is the labels' text if product or strategy can't be read from them, and empty
  // otherwise.
  using Kind = std::tuple<std::string, std::int32_t, std::optional<std::int64_t>,
                          std::optional<MigStrategy>, std::string>;
  const Target& resolve_inventory(const Node& node);
  Target resolve_kind(const Kind& kind) const;
  const std::map<std::string, std::int64_t>& expected(const Target& target, const Node& node);

  const ClusterState& cluster_;
  const MIGLayout& layout_;
  std::map<Kind, std::unique_ptr<Target>> targets_;
  // Nodes with the same texts are of the same kind, so most nodes need no parsing.
  std::vector<std::pair<InventoryTexts, const Target*>> by_texts_;
  // The resources that a node of the target offers without sharing, because most nodes do not
  // share.
  std::map<const Target*, std::map<std::string, std::int64_t>> unshared_;
  std::map<std::string, std::int64_t> shared_;  // what the last node with sharing offers
};

// Returns what the node offers with MIG off on every GPU: entry all-disabled.
std::map<std::string, std::int64_t> expected_without_mig(const Node& node,
                                                         const Inventory& inventory);

}  // namespace berth
