// SPDX-License-Identifier: Apache-2.0
// Keys: which keys of which reconcilers a change of the stores makes due. Each folder has one
// function for all its families, so that it compares the old and the new object only once. A new
// folder needs a line in keys_for() and one in all_keys().
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "controller/admission/reconcile_bypass.h"
#include "controller/core/cluster_state.h"
#include "controller/core/settings.h"
#include "controller/core/stop.h"
#include "controller/mig/watch_keys.h"
#include "controller/policy/policy_keys.h"
#include "controller/queue/queue_keys.h"

namespace berth {

// All keys. A new leader and a resync enqueue them.
std::vector<std::string> all_keys(const ClusterState& cluster, const Settings& settings);

// `old` is the previous version in the store, `now` the present one; at most one of them is null.
// The store already has the change. The result is sorted, each key once. A kind for which no folder
// has an overload makes nothing due. A change of the emergency stop makes all keys due.
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
  if constexpr (requires { bypass_keys_for(cluster, settings, old, now); })
    add(bypass_keys_for(cluster, settings, old, now));
  if constexpr (requires { queue_keys_for(cluster, settings, old, now); })
    add(queue_keys_for(cluster, settings, old, now));
  if constexpr (requires { changes_stop(settings, old, now); })
    if (changes_stop(settings, old, now)) keys = all_keys(cluster, settings);
  std::ranges::sort(keys);
  return keys;
}

// The keys that new samples make due; samples are not objects of the cluster.
std::vector<std::string> keys_of_samples();

}  // namespace berth
