// SPDX-License-Identifier: Apache-2.0
// Keys: what a change of the stores makes due, over every folder's reconcilers. The folder that
// reconciles a key says what makes it due, in a function *_keys_for() for each kind that it asks
// about, for all its families at once: a new folder is a line in keys_for() and one in all_keys().
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "controller/admission/reconcile_bypass.h"
#include "controller/core/cluster_state.h"
#include "controller/core/settings.h"
#include "controller/core/stop.h"
#include "controller/fleet/pools.h"
#include "controller/health/health_keys.h"
#include "controller/mig/watch_keys.h"
#include "controller/policy/policy_keys.h"
#include "controller/queue/admit/queue_keys.h"

namespace berth {

// All keys. A new leader and a resync enqueue them.
std::vector<std::string> all_keys(const ClusterState& cluster, const Settings& settings);

// Keys of the families that an edit of the policy makes due, and of those that a round of samples
// makes due, by the rows of key_families.cc. Samples are not objects of the cluster.
std::vector<std::string> keys_of_policy_edit();
std::vector<std::string> keys_of_samples();

// `old` is the version that stood in the store, `now` the one that stands there; either may be
// null, not both. The store shows the change already. Sorted, each key once. A kind for which no
// folder has an overload makes nothing due by itself. With the emergency stop all is due: it takes
// effect everywhere.
template <class T>
std::vector<std::string> keys_for(const ClusterState& cluster, const Settings& settings,
                                  const T* old, const T* now) {
  std::vector<std::string> keys;
  const auto add = [&](std::vector<std::string> more) {
    for (std::string& key : more) keys.push_back(std::move(key));
  };
  if constexpr (requires { mig_keys_for(cluster, settings, old, now); })
    add(mig_keys_for(cluster, settings, old, now));
  if constexpr (requires { policy_keys_for(cluster, settings, old, now); })
    add(policy_keys_for(cluster, settings, old, now));
  if constexpr (requires { health_keys_for(cluster, settings, old, now); })
    add(health_keys_for(cluster, settings, old, now));
  if constexpr (requires { bypass_keys_for(cluster, settings, old, now); })
    add(bypass_keys_for(cluster, settings, old, now));
  if constexpr (requires { queue::queue_keys_for(cluster, settings, old, now); })
    add(queue::queue_keys_for(cluster, settings, old, now));
  if constexpr (std::is_same_v<T, GPUClusterPolicy>)
    if (is_edit(old, now)) add(keys_of_policy_edit());
  if constexpr (requires { changes_stop(settings, old, now); })
    if (changes_stop(settings, old, now)) keys = all_keys(cluster, settings);
  std::ranges::sort(keys);
  return keys;
}

}  // namespace berth
