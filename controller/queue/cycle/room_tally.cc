// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/cycle/room_tally.h"

#include <algorithm>

#include "controller/queue/facts/capped.h"

namespace berth::queue {
namespace {

// A node takes any number of pods that request nothing. This limit keeps the sums from overflowing.
constexpr std::int64_t kMostOnNode = 1'000'000'000;

}  // namespace

RoomTally::RoomTally(NodeSpace& space, const TallyKey& key)
    : space_(space),
      key_(key),
      is_allowed_(space.allows_any(key.shape, key.pool)),
      seen_(space.taken_from().size()),
      on_node_(space.nodes()),
      by_domain_(space.levels()) {
  space.each_with_room(key.shape, key.pool, 1, [&](std::uint32_t rank) {
    count(rank, fits(rank));
    most_on_node_ = std::max(most_on_node_, on_node_[rank]);
    return true;
  });
}

bool RoomTally::has(std::int64_t pods) {
  const auto since = static_cast<std::int64_t>(space_.taken_from().size() - seen_);
  if (total_ - capped_product(since, most_on_node_) >= pods) return true;
  catch_up();
  return total_ >= pods;
}

std::int64_t RoomTally::fits(std::uint32_t rank) const {
  return std::min(kMostOnNode, key_.job_pods > 0
                                   ? space_.fits_of_job(rank, key_.shape, key_.job_pods)
                                   : space_.fits(rank, key_.shape));
}

void RoomTally::count(std::uint32_t rank, std::int64_t pods) {
  const std::int64_t more = pods - on_node_[rank];
  if (more == 0) return;
  on_node_[rank] = pods;
  total_ += more;
  const std::vector<DomainId>& domains = space_.node_at(rank).domains;
  for (std::size_t level = 0; level < std::min(domains.size(), by_domain_.size()); ++level) {
    std::vector<std::int64_t>& sums = by_domain_[level];
    if (domains[level] >= sums.size()) sums.resize(domains[level] + 1);
    sums[domains[level]] += more;
  }
}

void RoomTally::catch_up() {
  const std::vector<std::uint32_t>& taken = space_.taken_from();
  for (; seen_ < taken.size(); ++seen_) {
    const std::uint32_t rank = taken[seen_];
    if (on_node_[rank] == 0 && !is_ours(rank)) continue;
    count(rank, fits(rank));
    most_on_node_ = std::max(most_on_node_, on_node_[rank]);
  }
}

bool RoomTally::is_ours(std::uint32_t rank) const {
  return space_.is_in(rank, key_.pool) && space_.allows(rank, key_.shape);
}

std::int64_t RoomTally::in_domain(std::size_t level, DomainId domain) const {
  return domain < by_domain_[level].size() ? by_domain_[level][domain] : 0;
}

RoomTally& RoomTallies::of(const TallyKey& key) {
  const auto it = tallies_.find(key);
  return it != tallies_.end() ? it->second : tallies_.try_emplace(key, space_, key).first->second;
}

void RoomTallies::watch(const TallyKey& key, std::int64_t pods) {
  Watched& watched = watched_[key.pool][key];
  watched.room = &of(key);
  watched.pods = std::max(watched.pods, pods);
}

bool RoomTallies::is_short(PoolId pool) {
  const auto of_pool = watched_.find(pool);
  return of_pool != watched_.end() && std::ranges::any_of(of_pool->second, [](const auto& entry) {
           return !entry.second.room->has(entry.second.pods);
         });
}

void RoomTallies::unwatch(PoolId pool) { watched_.erase(pool); }

}  // namespace berth::queue
