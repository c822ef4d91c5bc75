// SPDX-License-Identifier: Apache-2.0
// RoomTally: for how many pods of one shape each node of a pool has room, and each domain. Creating
// it costs one pass over the nodes with room. After that, only changed nodes cost time.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "controller/queue/cycle/node_space.h"

namespace berth::queue {

struct TallyKey {
  ShapeId shape = 0;
  PoolId pool = Catalog::kAny;
  std::int64_t job_pods = 0;  // pods of its Job (NodeSpace::fits_of_job); 0: no Job
  auto operator<=>(const TallyKey&) const = default;
};

class RoomTally {
 public:
  RoomTally(NodeSpace& space, const TallyKey& key);

  // Whether there is room for this many pods. Usually it can answer without a look at changed
  // nodes.
  bool has(std::int64_t pods);
  void catch_up();

  // The sums as of the last catch_up().
  std::int64_t total() const { return total_; }
  std::int64_t in_domain(std::size_t level, DomainId domain) const;
  // Returns the current value, even without catch_up().
  std::int64_t fits(std::uint32_t rank) const;
  // Whether some empty node would take such a pod.
  bool is_allowed() const { return is_allowed_; }

 private:
  void count(std::uint32_t rank, std::int64_t pods);
  bool is_ours(std::uint32_t rank) const;

  NodeSpace& space_;
  TallyKey key_;
  std::int64_t total_ = 0;
  std::int64_t most_on_node_ = 0;  // the maximum at any time
  bool is_allowed_ = false;
  std::size_t seen_ = 0;  // how much of taken_from() is counted
  std::vector<std::int64_t> on_node_;
  std::vector<std::vector<std::int64_t>> by_domain_;  // by level and domain
};

class RoomTallies {
 public:
  explicit RoomTallies(NodeSpace& space) : space_(space) {}
  RoomTally& of(const TallyKey& key);

  // Whether a tally of the pool may have become too small for a workload that is watched there.
  void watch(const TallyKey& key, std::int64_t pods);
  bool is_short(PoolId pool);
  void unwatch(PoolId pool);

 private:
  struct Watched {
    RoomTally* room = nullptr;
    std::int64_t pods = 0;  // the most that a watched workload needs
  };
  NodeSpace& space_;
  std::map<TallyKey, RoomTally> tallies_;
  std::map<PoolId, std::map<TallyKey, Watched>> watched_;
};

}  // namespace berth::queue
