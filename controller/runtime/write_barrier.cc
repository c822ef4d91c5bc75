// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/write_barrier.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "apis/meta.h"

namespace berth {
namespace {

// A live GET that brings no newer version either (resourceVersions that can't be compared, a server
// that is down) must not hold a key for ever: the preconditions of its writes still protect it.
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
  arm(std::prev(expectations_.end()));
}

bool WriteBarrier::holds(std::string_view key) const {
  return std::any_of(expectations_.begin(), expectations_.end(),
                     [&](const Expectation& e) { return e.key == key; });
}

void WriteBarrier::on_cached(std::string_view kind, std::string_view namespace_,
                             std::string_view name) {
  for (auto it = expectations_.begin(); it != expectations_.end();) {
    const auto next = std::next(it);
    const ObjectRef& object = it->object;
    if (object.name == name && object.kind == kind && object.namespace_ == namespace_ && met(*it))
      drop(it);
    it = next;
  }
}

void WriteBarrier::clear() {
  for (const Expectation& expectation : expectations_) loop_.cancel(expectation.timer);
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
  expectations_.erase(it);
  if (!holds(key)) hooks_.released(key);
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
