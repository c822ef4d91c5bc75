// SPDX-License-Identifier: Apache-2.0
// Uncovered: gated members of an admitted gang whose requests its admission does not cover, or for
// which it has no seat. They wait until it does, even if enough is free.
#pragma once

#include <string>
#include <vector>

#include "controller/queue/facts/facts_index.h"

namespace berth::queue {

struct UncoveredMember {
  const Pod* pod = nullptr;
  std::string why;  // what it requests, what the gang was admitted with, and what to do
};

// Oldest first.
std::vector<UncoveredMember> uncovered_members(const Workload& workload, const FactsIndex& index);

}  // namespace berth::queue
