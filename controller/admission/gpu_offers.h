// SPDX-License-Identifier: Apache-2.0
// GpuOffers: which of NVIDIA's resources the cluster has, and on the nodes of which pool. A node
// offers what its status says, what the layout that owns it will make of it, and both under the
// name that its pool's sharing gives it: a pod may be created before the node is ready for it.
#pragma once

#include <cstdint>
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

struct GpuPlace {
  std::shared_ptr<const Node> node;
  PoolIndex pool = kNoPool;
};

struct GpuOffer {
  std::vector<GpuPlace> places;  // in the order of the nodes' names
  std::vector<PoolIndex> pools;  // of them, each once, in the policy's order
  bool outside_pools = false;    // a node of no pool has it too
};

class GpuOffers {
 public:
  GpuOffers() = default;
  explicit GpuOffers(const ClusterState& cluster);

  // nullptr: no node has it, or will have it.
  const GpuOffer* find(std::string_view resource) const;
  std::vector<std::string> resources() const;

 private:
  std::map<std::string, GpuOffer, std::less<>> by_resource_;
};

// What the cluster offers as it is now. Kept until a node, a layout or a policy changes: requests
// come by the thousand. The reference holds until the next call.
const GpuOffers& offers_of(const ClusterState& cluster);

// Whether the pool shares the resource, under the name that its pods ask for.
bool shares(const PoolSpec& pool, std::string_view resource);
// Whether a container that asks for more than one of it fails on the pool's nodes.
bool fails_above_one(const PoolSpec& pool, std::string_view resource);

}  // namespace berth
