// SPDX-License-Identifier: Apache-2.0
// Which namespaces' pods berth looks at: those that opted in, never the system's, berth's own or
// those of NVIDIA's agents, whatever their labels say.
#pragma once

#include <string_view>

#include "controller/core/cluster_state.h"
#include "controller/core/settings.h"

namespace berth {

enum class NamespaceStanding {
  kManaged,
  kLeftAlone,
  // The cache has not seen it yet. The server has asked the webhook's namespaceSelector, but what
  // the policy's selector and the pools' eligibility say can't be told: berth neither changes nor
  // refuses what may not be its to look at. A namespace that young is rare, making one is not for
  // everybody, and what slipped past is reported once it is seen.
  kUnknown,
};
// The cluster's own, berth's, and that of NVIDIA's agents: nothing there is ever held back.
bool is_systems_own(std::string_view name, const Settings& settings);
NamespaceStanding judge_namespace(std::string_view name, const GPUClusterPolicy& policy,
                                  const ClusterState& cluster, const Settings& settings);

}  // namespace berth
