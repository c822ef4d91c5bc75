// SPDX-License-Identifier: Apache-2.0
// GpuOffers: which GPU resources the cluster has, and on the nodes of which pools. A node offers
// the resources in its status and those that its MIG layout will create, both also under the name
// that its pool's sharing gives them: a user may create a pod before the node is ready for it.
//
// Nodes are grouped into classes; a pod's affinity matches all nodes of a class or none. Ten
// thousand nodes make a handful of classes, because labels with a different value per node are left
// out.
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

// The index of a pool in the policy's list; nodes outside every pool have kNoPool.
using PoolIndex = std::size_t;
inline constexpr PoolIndex kNoPool = static_cast<PoolIndex>(-1);

// Nodes of one pool that offer the same resources and have the same labels, except for particular
// labels (is_particular).
struct NodeClass {
  std::size_t number = 0;
  PoolIndex pool = kNoPool;
  std::vector<std::shared_ptr<const Node>> nodes;  // by name
};

struct GpuOffer {
  std::vector<const NodeClass*> classes;  // by number
  // Pools in which no node offers GPUs yet and whose future nodes may offer the resource.
  std::vector<PoolIndex> to_come;
  bool can_be_added = false;     // an autoscaler may add such a node to one of these pools
  std::vector<PoolIndex> pools;  // of all classes and of to_come, each once, in the policy's order
  bool outside_pools = false;    // a node outside every pool has the resource too

  // True: a node has the resource, or an autoscaler may add one. False: only a quota names the
  // resource, and the quota may misspell it.
  bool is_known() const { return !classes.empty() || can_be_added; }
};

class GpuOffers {
 public:
  explicit GpuOffers(const ClusterState& cluster);
  GpuOffers(const GpuOffers&) = delete;
  GpuOffers& operator=(const GpuOffers&) = delete;

  // nullptr: no node has the resource or will have it, and no future node may have it.
  const GpuOffer* find(std::string_view resource) const;
  // The names of the known resources (GpuOffer::is_known).
  std::vector<std::string> resources() const;
  // Whether nearly each node has its own value of the label, so that classes ignore the label.
  bool is_particular(const Text& label) const;

 private:
  void add_nodes_to_come(const ClusterState& cluster);

  std::vector<Text> particular_;  // sorted
  std::deque<NodeClass> classes_;
  std::map<std::string, GpuOffer, std::less<>> by_resource_;
};

// Keeps the offers until nodes, layouts, quotas or policies (berth's or NVIDIA's) change. They are
// computed at the first request, because requests are far more frequent than such changes. A view
// (core/view.h); copies share the computed offers.
class KeptOffers {
 public:
  void follow(const Change<Node>& change) { drop(change.news); }
  void follow(const Change<MIGLayout>& change) { drop(change.news); }
  void follow(const Change<GPUClusterPolicy>& change) { drop(change.news); }
  void follow(const Change<ClusterPolicy>& change) { drop(change.news); }
  void follow(const Change<GPUQueue>& change);  // statuses change often; only quotas matter

  // `cluster` must own the stores that this view follows.
  const GpuOffers& of(const ClusterState& cluster) const;

 private:
  void drop(bool news) {
    if (news) made_.reset();
  }
  mutable std::shared_ptr<const GpuOffers> made_;
};

// The cluster's present offers. The reference is valid until a node, a layout, a quota or a policy
// changes.
const GpuOffers& offers_of(const ClusterState& cluster);

// Whether the pool shares the resource of this name, which is the name that pods request.
bool shares(const PoolSpec& pool, std::string_view resource);
// Whether a container that requests more than one of the resource fails on the pool's nodes.
bool fails_above_one(const PoolSpec& pool, std::string_view resource);

}  // namespace berth
