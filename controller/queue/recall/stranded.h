// SPDX-License-Identifier: Apache-2.0
// Stranded: an admitted Job or gang with a node that is about to go or is gone. Its pods there are
// lost, and pods that replace a Job's are pinned to the lost node. So berth takes back the whole
// workload at once, and it starts elsewhere. Single pods of other controllers are re-created with a
// gate, and berth places them again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/queue/facts/workload.h"

namespace berth::queue {

struct Stranded {
  std::string why;  // for example "node n1 is about to go (taint …)"
  // The Job to suspend, if the budgets of its pods on other nodes allow it. Null: it is a gang
  // without a Job, or it stays.
  const berth::Job* requeued = nullptr;
  // For a gang without a Job: all released pods, to evict. Empty: the gang stays.
  std::vector<const berth::Pod*> recalled;
  std::vector<const berth::Pod*> elsewhere;
  std::string stays;  // why it stays
};

// Returns nothing if all its nodes stay.
std::optional<Stranded> stranded(const ClusterState& cluster, const Workload& workload);

// Returns the names of workloads with pods on the node, or pinned to it and not bound, if the node
// goes. Each name occurs once.
std::vector<std::string> stranded_on(const ClusterState& cluster, const std::string& node);

}  // namespace berth::queue
