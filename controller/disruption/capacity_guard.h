// SPDX-License-Identifier: Apache-2.0
// CapacityGuard: whether a node may be taken out of service, for the cluster as a whole and
// counting nodes that are unavailable already. Bound pods count as dependants, and so do queues'
// nominal quotas and what queues have admitted, each in its pool. Pending pods don't count: no
// tenant may block the platform.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/kinds/mig_layout.h"
#include "controller/core/cause.h"
#include "controller/core/snapshot.h"
#include "controller/disruption/queue_stakes.h"
#include "controller/disruption/slots.h"

namespace berth {

// NVIDIA's resources that nodes in service offer, summed up.
using Capacity = std::map<std::string_view, std::int64_t>;

// Returns NVIDIA's resources in a node's allocatable.
Capacity gpu_capacity(const Node& node);

class CapacityGuard {
 public:
  CapacityGuard(const Snapshot& snapshot, const SlotLedger& ledger, const CapacityGuardSpec& spec);

  // Returns why the node may not be taken now: CapacityGuard or LastProvider, with the resource,
  // the count, its dependants, and what would unblock it. Nothing if the node may be taken.
  std::optional<Cause> refuse(const Node& node) const;
  // Takes the node out of the sums for later questions.
  void take(const Node& node);

  const Capacity& remaining() const { return remaining_; }
  // Returns the resources that only this node offers to dependants, whatever spec.retire says.
  std::vector<std::string> last_provided(const Node& node) const;

 private:
  bool counts(const Node& node) const;
  std::optional<Cause> refuse_minimum(const Capacity& offered) const;
  std::optional<Cause> refuse_last_provider(const Node& node, const Capacity& offered) const;
  std::optional<Cause> refuse_users(std::string_view resource, std::int64_t count) const;
  std::optional<Cause> refuse_queues(const Node& node, std::string_view resource,
                                     const Capacity& offered) const;
  std::map<std::string, Capacity>& by_pool() const;
  std::string pool_of(const Node& node) const;

  const Snapshot& snapshot_;
  const SlotLedger& ledger_;
  const CapacityGuardSpec& spec_;
  std::vector<QueueStake> stakes_;
  Capacity remaining_;
  // The same by pool. This needs a pass over all nodes, so it is computed only if queues have a
  // stake.
  mutable std::optional<std::map<std::string, Capacity>> by_pool_;
};

}  // namespace berth
