// SPDX-License-Identifier: Apache-2.0
// NodeKeyTrial: whether the API server lets the controller write the labels and taints of a planned
// policy. It tries each label and taint once, on a node that would get it, as a dry run that
// impersonates the controller. Admission policies decide by user, and the user of `berth plan` is
// another one.
#pragma once

#include <string>
#include <vector>

#include "controller/client/kubeconfig.h"
#include "controller/core/cluster_state.h"
#include "controller/core/settings.h"
#include "controller/preview/projection.h"

namespace berth {

struct NodeKeyTrial {
  WritableKeys keys;     // the allowed keys; unchanged if nothing was refused
  bool refused = false;  // the server refused some key
  // Refused keys with the server's words, or why no key was tried.
  std::vector<std::string> notes;
};

// Stores nothing on the server. `account` is the controller's ServiceAccount in berth's namespace.
NodeKeyTrial try_node_keys(const ConfigFlags& connection, const Settings& settings,
                           const std::string& account, const ClusterState& cluster,
                           const PolicySummary& policy);

}  // namespace berth
