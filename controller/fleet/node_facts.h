// SPDX-License-Identifier: Apache-2.0
// NodeFacts: what a node's labels, taints and annotations say about its GPUs and about who else is
// at work on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/core.h"
#include "controller/core/snapshot.h"
#include "controller/fleet/node_layout.h"

namespace berth {

std::string_view label_of(const Node& node, std::string_view key);

inline constexpr std::int64_t kMaxGpusOfNode = 64;  // what is read as more is not believed

// The physical GPUs, as they are known while MIG is off.
struct Inventory {
  std::string product;     // without -MIG-… and -SHARED
  std::int32_t count = 0;  // as read: 1 to 64
  std::optional<std::int64_t> memory_mib;
  bool operator==(const Inventory&) const = default;
};
// From NVIDIA's labels where they tell whole GPUs (they don't under strategy `single` with MIG on),
// else from annotation gpu.berth.dev/gpu-inventory, else from the cloud's labels.
std::optional<Inventory> inventory_of(const Node& node);
// The text the annotation should have; nothing if it has it or the labels can't tell.
std::optional<std::string> inventory_to_record(const Node& node);

// How many whole GPUs it can have: as its inventory says, else what it offers; where neither is
// known, kMaxGpusOfNode.
std::int64_t gpus_at_most(const Node& node);

// The labels and the annotation that inventory_of() and the node's MIG strategy are read from, as
// they stand.
struct InventoryTexts {
  Text product;
  Text count;
  Text memory;
  Text strategy;
  Text recorded;
  Text cloud;
  bool operator==(const InventoryTexts&) const = default;
};
InventoryTexts inventory_texts(const Node& node);

// A node that has, or is known to have, a GPU of NVIDIA's.
bool has_gpus(const Node& node);

// The profile of all MIG instances under strategy `single`, where nvidia.com/gpu is an instance:
// the product's label ends with it, "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb". Empty: GPUs there are
// whole.
std::string_view single_profile(const Node& node);

// Label nvidia.com/mig.strategy, else ClusterPolicy; nothing if neither says.
std::optional<MigStrategy> strategy_of(const ClusterState& cluster, const Node& node);

// Keys of operands that mig-manager left at paused-for-mig-change.
std::vector<std::string> paused_labels(const Node& node);
// GPU operator's driver upgrade is under way, or about to be: empty, or the label that says so.
std::string driver_upgrade(const Node& node);
// The node is about to be deleted, by an autoscaler or by the cloud that lent it: empty, or the
// mark that says so.
std::string deletion_mark(const Node& node);
// Either of the two: the node is theirs until they are done.
inline bool in_others_hands(const Node& node) {
  return !driver_upgrade(node).empty() || !deletion_mark(node).empty();
}

// Takes new pods, as far as the node itself is concerned.
inline bool in_service(const Node& node) { return node.ready && !node.cordoned(); }
// Why nothing that has a choice is to begin there, though it may be in service: the mark of its
// deletion, or of a cloud that thinks of it. Empty: nothing.
std::string departure_mark(const Node& node);
// In service, and stays there as far as anybody says.
inline bool is_here_to_stay(const Node& node) {
  return in_service(node) && departure_mark(node).empty();
}

// Its features have been looked at, and no second NUMA node was found: all its GPUs and CPUs are
// near each other. No label tells how many NUMA nodes others have, nor which GPUs are near which.
bool has_one_numa_node(const Node& node);

// Whether any of NVIDIA's resources is allocatable.
bool offers_gpus(const Node& node);

}  // namespace berth
