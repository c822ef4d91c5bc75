// SPDX-License-Identifier: Apache-2.0
// NodeKeyTrial: whether the API server would let the controller put on nodes what a projection has
// a policy's pools put there. Each label and each taint is tried once on a node that gets it, as a
// dry run in the controller's name: admission policies judge by who asks, and whoever plans is
// somebody else.
#pragma once

#include <string>
#include <vector>

#include "controller/client/kubeconfig.h"
#include "controller/core/cluster_state.h"
#include "controller/core/settings.h"
#include "controller/preview/projection.h"

namespace berth {

struct NodeKeyTrial {
  WritableKeys keys;     // as they turned out; as they were, where nothing was refused
  bool refused = false;  // anything was
  std::vector<std::string>
      notes;  // what was refused in the server's words, or why nothing was tried
};

// Stores nothing on the server. `account`: the controller's ServiceAccount in berth's namespace.
NodeKeyTrial try_node_keys(const ConfigFlags& connection, const Settings& settings,
                           const std::string& account, const ClusterState& cluster,
                           const PolicySummary& policy);

}  // namespace berth
