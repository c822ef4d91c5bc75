// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/write_barrier.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "apis/kinds/meta.h"

namespace berth {
namespace {

// If a live GET brings no newer version either (versions that can't be compared, a server that is
// down), the barrier releases the key. The preconditions of its writes still protect it.
constexpr int kMaxRefetches = 3;

}  // namespace

WriteBarrier::WriteBarrier(Loop& loop, Hooks hooks, std::chrono::nanoseconds patience)
    : loop_(loop), hooks_(std::move(hooks)), patience_(patience) {}

WriteBarrier::~WriteBarrier() { clear(); }

void WriteBarrier::expect(const std::string& key, ObjectRef object, std::string resource_version,
                          Awaits awaits) {
  Expectation expectation{key, std::move(object), std::move(resource_version), awaits};
  if (met(expectation)) return;
  expectations_.push_back(std::move(expectation));
  const Iterator it = std::prev(expectations_.end());
  by_place_.emplace(place_of(it->object), it);
  ++held_[it->key];
  arm(it);
}

void WriteBarrier::on_cached(std::string_view kind, std::string_view namespace_,
                             std::string_view name) {
  auto [from, to] = by_place_.equal_range(Place{kind, namespace_, name});
  std::vector<Iterator> over;  // a released key may add new expectations
  for (; from != to; ++from)
    if (met(*from->second)) over.push_back(from->second);
  for (const Iterator it : over) drop(it);
}

void WriteBarrier::clear() {
  for (const Expectation& expectation : expectations_) loop_.cancel(expectation.timer);
  by_place_.clear();
  held_.clear();
  expectations_.clear();
}

bool WriteBarrier::met(const Expectation& expectation) const {
  const std::optional<CachedVersion> now = hooks_.cached(expectation.object);
  if (!now.has_value()) return expectation.awaits != Awaits::kPresent;
  const std::string& uid = expectation.object.uid;
  if (!uid.empty() && now->uid != uid) return true;
  if (expectation.awaits == Awaits::kGoing) return now->terminating;
  const auto order = compare_resource_versions(now->resource_version, expectation.resource_version);
  return order.has_value() ? *order >= 0 : now->resource_version == expectation.resource_version;
}

void WriteBarrier::drop(Iterator it) {
  loop_.cancel(it->timer);
  const std::string key = it->key;
  auto [from, to] = by_place_.equal_range(place_of(it->object));
  by_place_.erase(std::find_if(from, to, [&](const auto& entry) { return entry.second == it; }));
  expectations_.erase(it);
  const auto held = held_.find(key);
  if (--held->second > 0) return;
  held_.erase(held);
  hooks_.released(key);
}

void WriteBarrier::arm(Iterator it) {
  it->timer = loop_.call_after(patience_, [this, it] {
    it->timer = 0;
    if (++it->refetches > kMaxRefetches) return drop(it);
    const ObjectRef object = it->object;
    arm(it);
    hooks_.refetch(object);
  });
}

}  // namespace berth
