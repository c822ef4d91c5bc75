// SPDX-License-Identifier: Apache-2.0
// Uncovered: gated members of an admitted gang whose admission does not cover what they ask, or has
// no seat for them. They wait until it does, however much is free.
#pragma once

#include <string>
#include <vector>

#include "controller/queue/facts_index.h"

namespace berth::queue {

struct UncoveredMember {
  const Pod* pod = nullptr;
  std::string why;  // what it asks, what the gang was admitted with, and what to do
};

// Oldest first.
std::vector<UncoveredMember> uncovered_members(const Workload& workload, const FactsIndex& index);

}  // namespace berth::queue
