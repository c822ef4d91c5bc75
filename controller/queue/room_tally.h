// SPDX-License-Identifier: Apache-2.0
// RoomTally: how many pods of one shape each node of a pool has room for, and each domain. Made at
// the cost of the nodes that have any, and from then on at that of the nodes that change.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "controller/queue/node_space.h"

namespace berth::queue {

struct TallyKey {
  ShapeId shape = 0;
  PoolId pool = Catalog::kAny;
  std::int64_t job_pods = 0;  // of a Job of so many (NodeSpace::fits_of_job); 0: of no Job
  auto operator<=>(const TallyKey&) const = default;
};

class RoomTally {
 public:
  RoomTally(NodeSpace& space, const TallyKey& key);

  // Whether there is room for so many pods. Mostly told without a look at what was taken since.
  bool has(std::int64_t pods);
  void catch_up();

  // As it was caught up last.
  std::int64_t total() const { return total_; }
  std::int64_t in_domain(std::size_t level, DomainId domain) const;
  // As the space has it now, also where it is not caught up.
  std::int64_t fits(std::uint32_t rank) const;
  // Whether some node would have such a pod if it were empty.
  bool is_allowed() const { return is_allowed_; }

 private:
  void count(std::uint32_t rank, std::int64_t pods);
  bool is_ours(std::uint32_t rank) const;

  NodeSpace& space_;
  TallyKey key_;
  std::int64_t total_ = 0;
  std::int64_t most_on_node_ = 0;  // at any time
  bool is_allowed_ = false;
  std::size_t seen_ = 0;  // of what was taken
  std::vector<std::int64_t> on_node_;
  std::vector<std::vector<std::int64_t>> by_domain_;  // by level and domain
};

class RoomTallies {
 public:
  explicit RoomTallies(NodeSpace& space) : space_(space) {}
  RoomTally& of(const TallyKey& key);

  // Whether one of the pool may have become too small for some of those that are watched there.
  void watch(const TallyKey& key, std::int64_t pods);
  bool is_short(PoolId pool);
  void unwatch(PoolId pool);

 private:
  struct Watched {
    RoomTally* room = nullptr;
    std::int64_t pods = 0;  // the most that is wanted
  };
  NodeSpace& space_;
  std::map<TallyKey, RoomTally> tallies_;
  std::map<PoolId, std::map<TallyKey, Watched>> watched_;
};

}  // namespace berth::queue
