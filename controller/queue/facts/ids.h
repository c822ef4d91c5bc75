// SPDX-License-Identifier: Apache-2.0
// Small consecutive numbers for names, so that the engine can add up vectors. A name keeps its
// number for the life of the index. The number depends on the order of events, so no decision and
// no message may depend on it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::queue {

using ResourceId = std::uint32_t;
using PoolId = std::uint32_t;
using KeyId = std::uint32_t;  // a quota's (resource, pool)
using ShapeId = std::uint32_t;
using ClassId = std::uint32_t;
using QueueId = std::uint32_t;
using HolderId = std::uint32_t;
using NodeId = std::uint32_t;
using DomainId = std::uint32_t;
using RulesId = std::uint32_t;
using WishId = std::uint32_t;

template <class Name>
class Ids {
 public:
  std::uint32_t id(const Name& name) {
    auto [it, fresh] = ids_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (fresh) names_.push_back(&it->first);
    return it->second;
  }
  const std::uint32_t* find(const Name& name) const {
    auto it = ids_.find(name);
    return it == ids_.end() ? nullptr : &it->second;
  }
  const Name& name(std::uint32_t id) const { return *names_[id]; }
  std::size_t size() const { return names_.size(); }

 private:
  std::map<Name, std::uint32_t> ids_;
  std::vector<const Name*> names_;  // pointers stay valid: a map does not move its keys
};

// The requests of one pod, sorted by resource number.
using Vector = std::vector<std::pair<ResourceId, std::int64_t>>;

}  // namespace berth::queue
