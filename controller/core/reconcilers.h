// SPDX-License-Identifier: Apache-2.0
// Reconcilers: the pure core as the shell sees it. Programs hand these functions to the Controller,
// so that runtime/ includes no reconciler and a test may hand it others. Pure, all of them.
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

// Which keys a changed object makes due. `old` is null for a new object, `now` for a removed one;
// the cluster already shows the change.
template <class T>
using KeysFor =
    std::function<std::vector<std::string>(const ClusterState&, const T* old, const T* now)>;

struct Reconcilers {
  std::function<Plan(const Snapshot&, std::string_view key)> reconcile;
  std::span<const KeyFamily> families;
  std::function<std::vector<std::string>(const ClusterState&)> all_keys;
  Watched::Map<std::tuple, KeysFor> keys_for;  // empty: nobody wants to know
  // Which keys tell of a write that the API server refuses for good, whoever planned it.
  std::function<std::vector<std::string>(const ClusterState&)> keys_of_refusal;
  // Which object asks for what the key's plan does, "MIGLayout/halves generation 4", or nothing.
  // May be empty.
  std::function<std::string(const ClusterState&, std::string_view key)> cause_of{};
  // What a new leader writes before its first plan, and the epoch that is its own once it has;
  // `ledger` is fresh from the server, or null if there is none. `above` is the highest epoch of
  // the other ledgers.
  std::function<std::pair<Write, std::int64_t>(const ConfigMap* ledger, std::int64_t above)>
      claim_epoch;
  // What plans add observations to.
  std::vector<const Measure*> measures;
  // What /metrics tells of the cluster.
  std::function<Figures(const ClusterState&)> figures;
};

}  // namespace berth
