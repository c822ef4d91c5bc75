// SPDX-License-Identifier: Apache-2.0
// Reconcilers: the pure core as the shell sees it. Programs pass these functions to the Controller,
// so that runtime/ includes no reconciler and tests can pass their own. All functions are pure.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "controller/core/figures.h"
#include "controller/core/key_family.h"
#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

// The keys to reconcile after an object has changed. `old` is null for a new object, `now` for a
// removed one. The cluster already contains the change.
template <class T>
using KeysFor =
    std::function<std::vector<std::string>(const ClusterState&, const T* old, const T* now)>;

struct Reconcilers {
  std::function<Plan(const Snapshot&, std::string_view key)> reconcile;
  std::span<const KeyFamily> families;
  std::function<std::vector<std::string>(const ClusterState&)> all_keys;
  Watched::Map<std::tuple, KeysFor> keys_for;  // empty: no reconciler depends on the kind
  // The keys that report a write which the API server refuses for good, whichever key planned it.
  std::function<std::vector<std::string>(const ClusterState&)> keys_of_refusal;
  // The object that asks for what the key's plan does, "MIGLayout/halves generation 4", or "". The
  // function may be empty.
  std::function<std::string(const ClusterState&, std::string_view key)> cause_of{};
  // The first write of a new leader, and the epoch that it has after this write. `ledger` comes
  // fresh from the server, null if there is none. `above` is the highest epoch of the other
  // ledgers.
  std::function<std::pair<Write, std::int64_t>(const ConfigMap* ledger, std::int64_t above)>
      claim_epoch;
  // The measures that plans add observations to.
  std::vector<const Measure*> measures;
  // The figures for /metrics about the cluster.
  std::function<Figures(const ClusterState&)> figures;
};

}  // namespace berth
