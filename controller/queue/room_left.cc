// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/room_left.h"

#include <algorithm>

namespace berth::queue {

RoomLeft::RoomLeft(const FactsIndex& index)
    : catalog_(index.catalog()),
      room_(index.room()),
      resources_(catalog_.resources()),
      left_(catalog_.pools() * resources_),
      watched_(left_.size()) {
  for (PoolId pool = 0; pool < catalog_.pools(); ++pool) {
    for (ResourceId resource = 0; resource < resources_; ++resource)
      left_[pool * resources_ + resource] = room_.unclaimed(pool, resource);
  }
}

// What is admitted to any pool may come to stand in this one, so both must have it.
std::int64_t RoomLeft::left(PoolId pool, ResourceId resource) const {
  return std::min(left_[resource], left_[pool * resources_ + resource]);
}

bool RoomLeft::fits(ClassId workloads, PoolId pool) const {
  for (const auto& [resource, amount] : catalog_.class_facts(workloads).total) {
    if (amount > left(pool, resource)) return false;
  }
  for (const auto& [shape, count] : catalog_.class_key(workloads).roles) {
    for (const auto& [resource, amount] : catalog_.shape_requests(shape)) {
      if (amount > room_.largest(pool, resource)) return false;
    }
  }
  return true;
}

Verdict RoomLeft::explain(ClassId workloads, PoolId pool) const {
  const Vector& total = catalog_.class_facts(workloads).total;
  for (const auto& [resource, amount] : total) {
    const std::int64_t offered = room_.offered(pool, resource);
    if (amount > offered)
      return {Reason::kResourceNotOffered, resource, pool, amount, 0, offered, nullptr};
  }
  for (const auto& [resource, amount] : total) {
    const std::int64_t free = std::max<std::int64_t>(0, left(pool, resource));
    if (amount > free) {
      return {Reason::kWaitingForRoom,       resource, pool, amount, free,
              room_.offered(pool, resource), nullptr};
    }
  }
  // What is left is a pod for which no node has enough: of these the resource whose name is first,
  // with the most that one pod needs of it.
  Verdict verdict{.reason = Reason::kFragmented, .pool = pool};
  for (const auto& [resource, amount] : total) {
    std::int64_t most = 0;
    for (const auto& [shape, count] : catalog_.class_key(workloads).roles) {
      for (const auto& [asked, per_pod] : catalog_.shape_requests(shape)) {
        if (asked == resource) most = std::max(most, per_pod);
      }
    }
    if (most <= room_.largest(pool, resource)) continue;
    verdict.resource = resource;
    verdict.needs = most;
    verdict.free = room_.largest(pool, resource);
    verdict.most = left(pool, resource);
    break;
  }
  return verdict;
}

void RoomLeft::take(ClassId workloads, PoolId pool) {
  for (const auto& [resource, amount] : catalog_.class_facts(workloads).total) {
    left_[resource] -= amount;
    if (pool != Catalog::kAny) left_[pool * resources_ + resource] -= amount;
  }
}

void RoomLeft::watch(ClassId workloads, PoolId pool) {
  for (const auto& [resource, amount] : catalog_.class_facts(workloads).total) {
    std::int64_t& most = watched_[pool * resources_ + resource];
    most = std::max(most, amount);
  }
}

bool RoomLeft::is_short(PoolId pool) const {
  for (ResourceId resource = 0; resource < resources_; ++resource) {
    const std::int64_t most = watched_[pool * resources_ + resource];
    if (most > 0 && most > left(pool, resource)) return true;
  }
  return false;
}

void RoomLeft::unwatch(PoolId pool) {
  std::fill_n(watched_.begin() + static_cast<std::ptrdiff_t>(pool * resources_), resources_, 0);
}

}  // namespace berth::queue
