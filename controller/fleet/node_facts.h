// SPDX-License-Identifier: Apache-2.0
// NodeFacts: what a node's labels, taints and annotations say about its GPUs, and about other
// operators that work on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/kinds/core.h"
#include "controller/core/snapshot.h"
#include "controller/fleet/node_layout.h"

namespace berth {

std::string_view label_of(const Node& node, std::string_view key);

inline constexpr std::int64_t kMaxGpusOfNode = 64;  // a higher number is not believed

// The physical GPUs, as seen while MIG is off.
struct Inventory {
  std::string product;     // without -MIG-… and -SHARED
  std::int32_t count = 0;  // 1 to 64
  std::optional<std::int64_t> memory_mib;
  bool operator==(const Inventory&) const = default;
};
// Reads NVIDIA's labels if they describe whole GPUs (they don't under strategy `single` with MIG
// on), or else annotation gpu.berth.dev/gpu-inventory, or else the cloud's labels.
std::optional<Inventory> inventory_of(const Node& node);
// Returns the text that the annotation should have; nothing if it has this text already, or the
// labels do not describe whole GPUs.
std::optional<std::string> inventory_to_record(const Node& node);

// Returns the most whole GPUs that the node can have: by its inventory, or else by what it offers.
// If neither is known, kMaxGpusOfNode.
std::int64_t gpus_at_most(const Node& node);

// The raw labels and the annotation from which inventory_of() and the node's MIG strategy are read.
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

// Whether the node has an NVIDIA GPU, or is known to have one.
bool has_gpus(const Node& node);

// Returns the profile of all MIG instances under strategy `single`, where nvidia.com/gpu is an
// instance. The product's label ends with it: "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb". Empty: the
// node's GPUs are whole.
std::string_view single_profile(const Node& node);

// Returns label nvidia.com/mig.strategy, or else ClusterPolicy's strategy; nothing if neither is
// set.
std::optional<MigStrategy> strategy_of(const ClusterState& cluster, const Node& node);

// Returns the keys of operands' labels that mig-manager left at paused-for-mig-change.
std::vector<std::string> paused_labels(const Node& node);
// Returns the label that shows a GPU operator's driver upgrade in progress or about to begin;
// empty: none.
std::string driver_upgrade(const Node& node);
// Returns the mark that shows that the node is about to be deleted, by an autoscaler or the cloud;
// empty: none.
std::string deletion_mark(const Node& node);
// Whether a driver upgrade or a deletion is in progress. berth leaves the node alone until it is
// done.
inline bool in_others_hands(const Node& node) {
  return !driver_upgrade(node).empty() || !deletion_mark(node).empty();
}

// Whether the node takes new pods.
inline bool in_service(const Node& node) { return node.ready && !node.cordoned(); }
// Returns why berth starts no workload on the node even if it is in service: the mark of its
// deletion, or of a cloud that may take it back. Empty: none.
std::string departure_mark(const Node& node);
// Whether the node is in service, and nothing shows that it is about to go.
inline bool is_here_to_stay(const Node& node) {
  return in_service(node) && departure_mark(node).empty();
}

// Whether node feature discovery has run and found no second NUMA node, so that all GPUs and CPUs
// are close to each other. No label says how many NUMA nodes other nodes have, nor which GPUs are
// close to which.
bool has_one_numa_node(const Node& node);

// Whether any of NVIDIA's resources is allocatable.
bool offers_gpus(const Node& node);

}  // namespace berth
