// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/catalog.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "controller/queue/capped.h"

namespace berth::queue {

bool is_gpu(std::string_view resource) {
  return resource == "nvidia.com/gpu" || resource == "nvidia.com/gpu.shared" ||
         resource.starts_with("nvidia.com/mig-");
}

namespace {

// To those pools of both that are the same.
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
}

ResourceId Catalog::resource(const std::string& name) {
  const ResourceId id = resources_.id(name);
  if (id == gpu_.size()) gpu_.push_back(is_gpu(name));
  return id;
}

ShapeId Catalog::shape(const Amounts& requests, const PoolNames& only_pools) {
  ShapeKey key;
  key.requests.reserve(requests.size());
  for (const auto& [name, amount] : requests) {
    if (amount > 0) key.requests.emplace_back(resource(name), amount);
  }
  std::sort(key.requests.begin(), key.requests.end());
  for (const std::string& name : only_pools) key.only_pools.push_back(pool(name));
  std::sort(key.only_pools.begin(), key.only_pools.end());
  return shapes_.id(key);
}

// What a quota of any pool admits goes wherever its own selectors let it.
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
  std::sort(facts.total.begin(), facts.total.end(), [&](const auto& a, const auto& b) {
    return resource_name(a.first) < resource_name(b.first);
  });
  return id;
}

}  // namespace berth::queue
