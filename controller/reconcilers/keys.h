// SPDX-License-Identifier: Apache-2.0
// Keys: what a change of the stores makes due, over every folder's reconcilers.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "controller/admission/reconcile_bypass.h"
#include "controller/core/cluster_state.h"
#include "controller/core/settings.h"
#include "controller/mig/watch_keys.h"
#include "controller/policy/policy_keys.h"

namespace berth {

// `old` is the version that stood in the store, `now` the one that stands there; either may be
// null, not both. The store shows the change already. Sorted, each key once. A kind for which no
// folder has an overload makes nothing due by itself.
template <class T>
std::vector<std::string> keys_for(const ClusterState& cluster, const Settings& settings,
                                  const T* old, const T* now) {
  constexpr bool of_mig = requires { mig_keys_for(cluster, settings, old, now); };
  constexpr bool of_policy = requires { policy_keys_for(cluster, settings, old, now); };
  std::vector<std::string> keys;
  const auto add = [&](std::vector<std::string> more) {
    for (std::string& key : more) keys.push_back(std::move(key));
  };
  if constexpr (of_mig) add(mig_keys_for(cluster, settings, old, now));
  if constexpr (of_policy) add(policy_keys_for(cluster, settings, old, now));
  if constexpr (std::is_same_v<T, Pod>) add(bypass_keys_for(cluster, old, now));
  if constexpr (std::is_same_v<T, Namespace>)
    if (now != nullptr && (old == nullptr || old->meta.labels != now->meta.labels))
      add(all_bypass_keys(cluster, settings, now->meta.name));
  if constexpr (std::is_same_v<T, GPUClusterPolicy>)
    if (now != nullptr && (old == nullptr || old->spec != now->spec))
      add(all_bypass_keys(cluster, settings));
  std::ranges::sort(keys);
  return keys;
}

// Everything there is to reconcile: what a new leader enqueues, and a resync.
std::vector<std::string> all_keys(const ClusterState& cluster, const Settings& settings);

}  // namespace berth
