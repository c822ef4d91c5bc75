// SPDX-License-Identifier: Apache-2.0
// The namespaces whose pods berth reviews: those that opted in. berth never reviews the namespaces
// of the system, of berth itself or of NVIDIA's node components, whatever their labels say.
#pragma once

#include <string_view>

#include "controller/core/cluster_state.h"
#include "controller/core/settings.h"

namespace berth {

enum class NamespaceStanding {
  kManaged,
  kLeftAlone,
  // The cache does not hold the namespace yet. The API server has checked the webhook's
  // namespaceSelector, but berth can't evaluate the policy's selector and the pools' eligibility.
  // It neither changes nor refuses the pod. Such a young namespace is rare, and few users may
  // create one. Once the cache holds it, berth reports pods that were created without review.
  kUnknown,
};
// The namespaces of the cluster, of berth and of NVIDIA's node components: berth gates nothing
// there.
bool is_systems_own(std::string_view name, const Settings& settings);
NamespaceStanding judge_namespace(std::string_view name, const GPUClusterPolicy& policy,
                                  const ClusterState& cluster, const Settings& settings);

}  // namespace berth
