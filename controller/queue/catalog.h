// SPDX-License-Identifier: Apache-2.0
// The names that facts use, numbered: resources, pools, queues, quotas' keys, shapes of pods and
// classes of workloads.
#pragma once

#include <string>
#include <vector>

#include "controller/queue/facts.h"
#include "controller/queue/ids.h"

namespace berth::queue {

// What decides where a pod may run and what it takes: equal ones are one shape.
struct ShapeKey {
  Vector requests;
  std::vector<PoolId> only_pools;  // sorted; empty: wherever the queue has quota
  RulesId rules = 0;
  bool modelled = true;
  auto operator<=>(const ShapeKey&) const = default;
};

// What is tried as one: what fails for one workload of a class fails for each.
struct ClassKey {
  std::vector<std::pair<ShapeId, std::int64_t>> roles;  // shape and count, sorted by shape
  WishId wish = 0;
  // kube-scheduler chooses among its nodes: a Job's pods have one template.
  bool of_job = false;
  std::int64_t lasts = 0;  // coarse_span() of when it is ended; 0: nobody ends it
  bool stays = false;      // it could not be given back
  auto operator<=>(const ClassKey&) const = default;
};

// Microseconds rounded up by a sixteenth at most: as many deadlines as there are Jobs would be as
// many classes, and none is ever forgotten.
std::int64_t coarse_span(std::int64_t span);

struct ClassFacts {
  Vector total;  // what all its pods ask together, by the resources' names
  std::int64_t pods = 0;
  std::vector<PoolId> only_pools;  // those of all its roles, as a shape has them
  bool modelled = true;            // all of them are
  // Those with the most of their device first, so that what is hard to place is placed first; their
  // order is by names alone.
  std::vector<std::pair<ShapeId, std::int64_t>> in_order;
  bool may_run_in(PoolId pool) const;
};

class Catalog {
 public:
  Catalog();

  ResourceId resource(const std::string& name);
  PoolId pool(const std::string& name) { return pools_.id(name); }
  QueueId queue(const std::string& name) { return queues_.id(name); }
  // Whom a charge counts for: a queue, and the cohort it had then, which matters once the queue is
  // deleted.
  HolderId holder(QueueId queue, const std::string& cohort) { return holders_.id({queue, cohort}); }
  KeyId key(ResourceId resource, PoolId pool) { return keys_.id({resource, pool}); }
  ShapeId shape(const Amounts& requests, const PoolNames& only_pools, const std::string& rules,
                bool modelled);
  NodeId node(const std::string& name) { return nodes_.id(name); }
  // By the values of the widest level down to its own.
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
  // The device that nodes are chosen by: the first GPU resource that it asks, else the first other
  // extended one, by name; kClass if it asks none.
  ResourceId shape_device(ShapeId id) const { return devices_[id]; }
  std::int64_t device_amount(ShapeId id) const;  // of that
  const std::string& node_name(NodeId id) const { return nodes_.name(id); }
  const std::vector<std::string>& domain_path(DomainId id) const { return domains_.name(id); }
  const TopologyWish& wish_facts(WishId id) const { return wishes_.name(id); }
  const std::string& rules_name(RulesId id) const { return rules_.name(id); }
  const ClassKey& class_key(ClassId id) const { return classes_.name(id); }
  const ClassFacts& class_facts(ClassId id) const { return class_facts_[id]; }
  bool counts_as_gpu(ResourceId id) const { return gpu_[id]; }
  // Whether a quota may count it: all but cpu, memory and what else Kubernetes itself names.
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
