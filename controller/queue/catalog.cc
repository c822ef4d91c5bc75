// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/catalog.h"

#include <algorithm>

#include "controller/queue/capped.h"

namespace berth::queue {

bool is_gpu(std::string_view resource) {
  return resource == "nvidia.com/gpu" || resource == "nvidia.com/gpu.shared" ||
         resource.starts_with("nvidia.com/mig-");
}

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

ShapeId Catalog::shape(const Amounts& requests) {
  Vector vector;
  vector.reserve(requests.size());
  for (const auto& [name, amount] : requests) {
    if (amount > 0) vector.emplace_back(resource(name), amount);
  }
  std::sort(vector.begin(), vector.end());
  return shapes_.id(vector);
}

ClassId Catalog::workload_class(const ClassKey& key) {
  const ClassId id = classes_.id(key);
  if (id < class_facts_.size()) return id;
  ClassFacts& facts = class_facts_.emplace_back();
  for (const auto& [shape, count] : key.roles) {
    facts.pods += count;
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
