// SPDX-License-Identifier: Apache-2.0
// Catalog: numbers for the names in facts: resources, pools, queues, quota keys, pod shapes and
// workload classes.
#pragma once

#include <string>
#include <vector>

#include "controller/queue/facts/facts.h"
#include "controller/queue/facts/ids.h"

namespace berth::queue {

// Everything that decides where a pod may run and what it requests. Pods with equal keys have one
// shape.
struct ShapeKey {
  Vector requests;
  std::vector<PoolId> only_pools;  // sorted; empty: every pool where the queue has quota
  RulesId rules = 0;
  bool modelled = true;
  auto operator<=>(const ShapeKey&) const = default;
};

// Workloads that a cycle tries as one. If one workload of a class fails, all of them fail.
struct ClassKey {
  std::vector<std::pair<ShapeId, std::int64_t>> roles;  // shape and pod count, sorted by shape
  WishId wish = 0;
  // A Job's pods have one template, so kube-scheduler chooses among the Job's nodes.
  bool of_job = false;
  std::int64_t lasts = 0;  // coarse_span() of its run time in microseconds; 0: no limit
  bool stays = false;      // it could stay: berth may be unable to take it back
  auto operator<=>(const ClassKey&) const = default;
};

// Rounds microseconds up by at most a sixteenth. Otherwise each deadline would make a class of its
// own, and the catalog never forgets a class.
std::int64_t coarse_span(std::int64_t span);

struct ClassFacts {
  Vector total;  // the requests of all its pods, sorted by resource name
  std::int64_t pods = 0;
  std::vector<PoolId> only_pools;  // the pools that all its roles allow; empty: every pool
  bool modelled = true;            // all its shapes are modelled
  // Roles with the largest device request come first, because these are hardest to place. Ties are
  // ordered by names, never by numbers.
  std::vector<std::pair<ShapeId, std::int64_t>> in_order;
  bool may_run_in(PoolId pool) const;
};

class Catalog {
 public:
  Catalog();

  ResourceId resource(const std::string& name);
  PoolId pool(const std::string& name) { return pools_.id(name); }
  QueueId queue(const std::string& name) { return queues_.id(name); }
  // Whom a charge counts for: a queue and the cohort that it had at that time. The cohort matters
  // once the queue is deleted.
  HolderId holder(QueueId queue, const std::string& cohort) { return holders_.id({queue, cohort}); }
  KeyId key(ResourceId resource, PoolId pool) { return keys_.id({resource, pool}); }
  ShapeId shape(const Amounts& requests, const PoolNames& only_pools, const std::string& rules,
                bool modelled);
  NodeId node(const std::string& name) { return nodes_.id(name); }
  // `path`: the domain's values, from the widest level down to its own.
  DomainId domain(const std::vector<std::string>& path) { return domains_.id(path); }
  RulesId rules(const std::string& name) { return rules_.id(name); }
  WishId wish(const TopologyWish& wish) { return wishes_.id(wish); }
  ClassId workload_class(const ClassKey& key);

  const std::string& resource_name(ResourceId id) const { return resources_.name(id); }
  const std::string& pool_name(PoolId id) const { return pools_.name(id); }
  const std::string& queue_name(QueueId id) const { return queues_.name(id); }
  const std::pair<QueueId, std::string>& holder_parts(HolderId id) const {
    return holders_.name(id);
  }
  const std::pair<ResourceId, PoolId>& key_parts(KeyId id) const { return keys_.name(id); }
  const Vector& shape_requests(ShapeId id) const { return shapes_.name(id).requests; }
  const std::vector<PoolId>& shape_pools(ShapeId id) const { return shapes_.name(id).only_pools; }
  RulesId shape_rules(ShapeId id) const { return shapes_.name(id).rules; }
  // Returns the device of the shape: the first GPU resource by name that it requests, or else the
  // first other extended resource. kClass if it requests none.
  ResourceId shape_device(ShapeId id) const { return devices_[id]; }
  std::int64_t device_amount(ShapeId id) const;  // the amount of shape_device()
  const std::string& node_name(NodeId id) const { return nodes_.name(id); }
  const std::vector<std::string>& domain_path(DomainId id) const { return domains_.name(id); }
  const TopologyWish& wish_facts(WishId id) const { return wishes_.name(id); }
  const std::string& rules_name(RulesId id) const { return rules_.name(id); }
  const ClassKey& class_key(ClassId id) const { return classes_.name(id); }
  const ClassFacts& class_facts(ClassId id) const { return class_facts_[id]; }
  bool counts_as_gpu(ResourceId id) const { return gpu_[id]; }
  // Whether a quota may count the resource. cpu, memory and other resources without a domain prefix
  // are room on nodes.
  bool is_extended(ResourceId id) const { return extended_[id]; }
  const ResourceId* find_resource(const std::string& name) const { return resources_.find(name); }
  const PoolId* find_pool(const std::string& name) const { return pools_.find(name); }
  const KeyId* find_key(ResourceId resource, PoolId pool) const {
    return keys_.find({resource, pool});
  }
  const ClassId* find_class(const ClassKey& key) const { return classes_.find(key); }
  const WishId* find_wish(const TopologyWish& wish) const { return wishes_.find(wish); }
  const QueueId* find_queue(const std::string& name) const { return queues_.find(name); }
  std::size_t resources() const { return resources_.size(); }
  std::size_t pools() const { return pools_.size(); }
  std::size_t queues() const { return queues_.size(); }
  std::size_t classes() const { return class_facts_.size(); }
  std::size_t nodes() const { return nodes_.size(); }
  std::size_t domains() const { return domains_.size(); }
  std::size_t rules() const { return rules_.size(); }

  static constexpr ResourceId kClass = 0;  // kGpuClass
  static constexpr PoolId kAny = 0;        // kAnyPool
  static constexpr QueueId kNoQueue = 0;   // the empty name

  static constexpr DomainId kNoDomain = 0;  // the empty path
  static constexpr RulesId kNoRules = 0;    // the empty name
  static constexpr WishId kNoWish = 0;      // the empty level

 private:
  bool before(const std::pair<ShapeId, std::int64_t>& a,
              const std::pair<ShapeId, std::int64_t>& b) const;

  Ids<std::string> resources_;
  Ids<std::string> pools_;
  Ids<std::string> queues_;
  Ids<std::pair<QueueId, std::string>> holders_;
  Ids<std::pair<ResourceId, PoolId>> keys_;
  Ids<std::string> nodes_;
  Ids<std::string> rules_;
  Ids<std::vector<std::string>> domains_;
  Ids<TopologyWish> wishes_;
  Ids<ShapeKey> shapes_;
  std::vector<ResourceId> devices_;  // by shape
  Ids<ClassKey> classes_;
  std::vector<ClassFacts> class_facts_;
  std::vector<bool> gpu_;  // by resource
  std::vector<bool> extended_;
};

}  // namespace berth::queue
