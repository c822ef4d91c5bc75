// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/facts/catalog.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <tuple>
#include <utility>

#include "controller/queue/facts/capped.h"

namespace berth::queue {

std::string member_key(std::string_view uid) {
  constexpr std::size_t kEnough = 8;
  return std::string(uid.substr(0, kEnough));
}

std::int64_t coarse_span(std::int64_t span) {
  if (span <= 0) return 0;
  span = std::min(span, kMostOfAnything);
  const int finest = std::bit_width(static_cast<std::uint64_t>(span)) - 5;
  if (finest <= 0) return span;
  const std::int64_t step = std::int64_t{1} << finest;
  const std::int64_t over = span % step;
  return over == 0 ? span : capped_sum(span, step - over);
}

namespace {

// Keeps the pools that are in both lists.
void narrow(std::vector<PoolId>& pools, const std::vector<PoolId>& to, PoolId nowhere) {
  if (to.empty()) return;
  if (pools.empty()) {
    pools = to;
    return;
  }
  std::vector<PoolId> both;
  std::ranges::set_intersection(pools, to, std::back_inserter(both));
  if (both.empty()) both.push_back(nowhere);
  pools = std::move(both);
}

}  // namespace

Catalog::Catalog() {
  resource(std::string(kGpuClass));
  pool(std::string(kAnyPool));
  queue("");
  rules("");
  domain({});
  wish({});
}

ResourceId Catalog::resource(const std::string& name) {
  const ResourceId id = resources_.id(name);
  if (id < gpu_.size()) return id;
  gpu_.push_back(is_gpu_resource(name));
  extended_.push_back(name.find('/') != std::string::npos);
  return id;
}

ShapeId Catalog::shape(const Amounts& requests, const PoolNames& only_pools,
                       const std::string& rules, bool modelled) {
  ShapeKey key{.rules = this->rules(rules), .modelled = modelled};
  ResourceId device = kClass;
  key.requests.reserve(requests.size());
  for (const auto& [name, amount] : requests) {
    if (amount == 0) continue;
    const ResourceId id = resource(name);
    key.requests.emplace_back(id, amount);
    const bool first = gpu_[id] ? device == kClass || !gpu_[device]
                                : device == kClass && name.find('/') != std::string::npos;
    if (first) device = id;
  }
  std::sort(key.requests.begin(), key.requests.end());
  for (const std::string& name : only_pools) key.only_pools.push_back(pool(name));
  std::sort(key.only_pools.begin(), key.only_pools.end());
  const ShapeId id = shapes_.id(key);
  if (id == devices_.size()) devices_.push_back(device);
  return id;
}

std::int64_t Catalog::device_amount(ShapeId id) const {
  for (const auto& [resource, amount] : shape_requests(id)) {
    if (resource == devices_[id]) return amount;
  }
  return 0;
}

bool Catalog::before(const std::pair<ShapeId, std::int64_t>& a,
                     const std::pair<ShapeId, std::int64_t>& b) const {
  const std::int64_t most = device_amount(a.first), other = device_amount(b.first);
  if (most != other) return most > other;
  const auto named = [&](ShapeId id) {
    const ShapeKey& key = shapes_.name(id);
    Amounts requests;
    for (const auto& [resource, amount] : key.requests)
      requests.emplace_back(resource_name(resource), amount);
    std::ranges::sort(requests);
    PoolNames pools;
    for (const PoolId pool : key.only_pools) pools.push_back(pool_name(pool));
    std::ranges::sort(pools);
    return std::tuple(requests, pools, rules_name(key.rules), key.modelled);
  };
  return named(a.first) < named(b.first);
}

// A workload that a quota of any pool admits may run wherever its own selectors allow.
bool ClassFacts::may_run_in(PoolId pool) const {
  return pool == Catalog::kAny || only_pools.empty() ||
         std::binary_search(only_pools.begin(), only_pools.end(), pool);
}

ClassId Catalog::workload_class(const ClassKey& key) {
  const ClassId id = classes_.id(key);
  if (id < class_facts_.size()) return id;
  ClassFacts& facts = class_facts_.emplace_back();
  const PoolId nowhere = pool("");
  for (const auto& [shape, count] : key.roles) {
    facts.pods += count;
    facts.modelled = facts.modelled && shapes_.name(shape).modelled;
    narrow(facts.only_pools, shapes_.name(shape).only_pools, nowhere);
    for (const auto& [resource, amount] : shape_requests(shape)) {
      auto it = std::find_if(facts.total.begin(), facts.total.end(),
                             [&](const auto& entry) { return entry.first == resource; });
      if (it == facts.total.end())
        facts.total.emplace_back(resource, capped_product(amount, count));
      else
        it->second = capped_sum(it->second, capped_product(amount, count));
    }
  }
  facts.in_order = key.roles;
  std::ranges::sort(facts.in_order, [&](const auto& a, const auto& b) { return before(a, b); });
  std::sort(facts.total.begin(), facts.total.end(), [&](const auto& a, const auto& b) {
    return resource_name(a.first) < resource_name(b.first);
  });
  return id;
}

}  // namespace berth::queue
