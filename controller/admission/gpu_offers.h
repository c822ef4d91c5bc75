// SPDX-License-Identifier: Apache-2.0
// GpuOffers: which of NVIDIA's resources the cluster has, and on the nodes of which pool. A node
// offers what its status says, what the layout that owns it will make of it, and both under the
// name that its pool's sharing gives it: a pod may be created before the node is ready for it.
//
// Nodes come in classes, of which a pod's affinity admits all or none: ten thousand nodes are a
// handful of them, but for the labels of which each node has its own value.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "controller/core/cluster_state.h"

namespace berth {

// The place of a pool in the policy's list; nodes outside every pool have kNoPool.
using PoolIndex = std::size_t;
inline constexpr PoolIndex kNoPool = static_cast<PoolIndex>(-1);

// Nodes of one pool that offer the same and are equal in all labels but particular ones.
struct NodeClass {
  std::size_t number = 0;
  PoolIndex pool = kNoPool;
  std::vector<std::shared_ptr<const Node>> nodes;  // by name
};

struct GpuOffer {
  std::vector<const NodeClass*> classes;  // by number
  // Pools in which no node offers GPUs, and whose nodes may offer it once they are there.
  std::vector<PoolIndex> to_come;
  bool can_be_added = false;     // by an autoscaler, to one of these
  std::vector<PoolIndex> pools;  // of all these, each once, in the policy's order
  bool outside_pools = false;    // a node of no pool has it too

  // A node has it, or an autoscaler may add one. Else only a quota names it, and may misspell it.
  bool is_known() const { return !classes.empty() || can_be_added; }
};

class GpuOffers {
 public:
  explicit GpuOffers(const ClusterState& cluster);
  GpuOffers(const GpuOffers&) = delete;
  GpuOffers& operator=(const GpuOffers&) = delete;

  // nullptr: no node has it, or will have it, or may come with it.
  const GpuOffer* find(std::string_view resource) const;
  // Those that are known.
  std::vector<std::string> resources() const;
  // Whether nodes have values of their own of the label, so that a class says nothing of it.
  bool is_particular(const Text& label) const;

 private:
  void add_nodes_to_come(const ClusterState& cluster);

  std::vector<Text> particular_;  // sorted
  std::deque<NodeClass> classes_;
  std::map<std::string, GpuOffer, std::less<>> by_resource_;
};

// The offers from one change of nodes, layouts, quotas and policies, ours and NVIDIA's, to the
// next: made when first asked for, since requests come by the thousand and such changes don't. A
// view (core/view.h); copies share what was made.
class KeptOffers {
 public:
  void follow(const Change<Node>& change) { drop(change.news); }
  void follow(const Change<MIGLayout>& change) { drop(change.news); }
  void follow(const Change<GPUClusterPolicy>& change) { drop(change.news); }
  void follow(const Change<ClusterPolicy>& change) { drop(change.news); }
  void follow(const Change<GPUQueue>& change);  // their statuses change all the time

  // Of the very stores that it follows.
  const GpuOffers& of(const ClusterState& cluster) const;

 private:
  void drop(bool news) {
    if (news) made_.reset();
  }
  mutable std::shared_ptr<const GpuOffers> made_;
};

// What the cluster offers as it is now. The reference holds until a node, a layout, a quota or a
// policy changes.
const GpuOffers& offers_of(const ClusterState& cluster);

// Whether the pool shares the resource, under the name that its pods ask for.
bool shares(const PoolSpec& pool, std::string_view resource);
// Whether a container that asks for more than one of it fails on the pool's nodes.
bool fails_above_one(const PoolSpec& pool, std::string_view resource);

}  // namespace berth
