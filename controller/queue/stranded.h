// SPDX-License-Identifier: Apache-2.0
// Stranded: a Job or a gang that a queue has let go, one of whose nodes is about to go or is gone.
// Its pods there are lost, and those that are made anew for a Job are pinned to what is no more: so
// all of it is taken back at once, and begins elsewhere. Single pods of other controllers come back
// at their gate by themselves, and find their place anew.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/queue/workload.h"

namespace berth::queue {

struct Stranded {
  std::string why;  // "node n1 is about to go (taint …)"
  // It is suspended, if the budgets of those of its pods allow it that are on other nodes. Null: it
  // is a gang that no Job makes, or stays.
  const berth::Job* requeued = nullptr;
  // Of such a gang all that were let go: they are evicted likewise. Empty: it stays.
  std::vector<const berth::Pod*> recalled;
  std::vector<const berth::Pod*> elsewhere;
  std::string stays;  // why
};

// Nothing if its nodes stay.
std::optional<Stranded> stranded(const ClusterState& cluster, const Workload& workload);

// What stands on the node, or is pinned to it and on its way, if the node goes: the workloads'
// names, each once.
std::vector<std::string> stranded_on(const ClusterState& cluster, const std::string& node);

}  // namespace berth::queue
