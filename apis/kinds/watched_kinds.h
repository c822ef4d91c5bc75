// SPDX-License-Identifier: Apache-2.0
// WatchedKinds: one table of the kinds that berth keeps in memory. To add a kind, write its struct
// with its kKind, its reader, a row here, and what docs/architecture.md lists for a new kind.
#pragma once

#include "apis/kinds/core.h"
#include "apis/kinds/gpu_cluster_policy.h"
#include "apis/kinds/gpu_queue.h"
#include "apis/kinds/mig_layout.h"
#include "apis/kinds/resource_quota.h"

namespace berth {

enum class WatchScope {
  kCluster,     // all objects
  kUnfinished,  // unfinished ones, and the few others of core/ended_pods.h
  kAgents,      // in the namespace of NVIDIA's node components
  // In that namespace, and the ledgers in berth's own. berth needs no other ConfigMaps, and they
  // would cost memory.
  kLedger,
};
struct Watching {
  WatchScope scope;
  bool optional;  // berth works without the kind: its CRD may be absent
};

// The struct, the scope of the watch, and whether the API server may lack the kind.
#define BERTH_WATCHED_KINDS(ROW)            \
  ROW(MIGLayout, kCluster, false)           \
  ROW(Node, kCluster, false)                \
  ROW(Pod, kUnfinished, false)              \
  ROW(PodDisruptionBudget, kCluster, false) \
  ROW(Job, kCluster, false)                 \
  ROW(ConfigMap, kLedger, false)            \
  ROW(DaemonSet, kAgents, false)            \
  ROW(ClusterPolicy, kCluster, true)        \
  ROW(GPUClusterPolicy, kCluster, true)     \
  ROW(GPUQueue, kCluster, true)             \
  ROW(Namespace, kCluster, false)           \
  ROW(PriorityClass, kCluster, false)       \
  ROW(ResourceQuota, kCluster, true)

template <class T>
inline constexpr Watching kWatching = {};  // no row: not watched
#define BERTH_WATCHING(T, scope, optional) \
  template <>                              \
  inline constexpr Watching kWatching<T> = {WatchScope::scope, optional};
BERTH_WATCHED_KINDS(BERTH_WATCHING)
#undef BERTH_WATCHING

template <class... T>
struct KindList {
  // visit.template operator()<T>() for each, in order.
  template <class Visit>
  static void each(Visit&& visit) {
    (visit.template operator()<T>(), ...);
  }
  // Of<T…>, for example a tuple.
  template <template <class...> class Of, template <class> class Item>
  using Map = Of<Item<T>...>;
};
template <class First, class... Rest>
struct WithoutFirst {
  using Kinds = KindList<Rest...>;
};
#define BERTH_NAME(T, scope, optional) , T
using Watched = WithoutFirst<void BERTH_WATCHED_KINDS(BERTH_NAME)>::Kinds;
#undef BERTH_NAME

}  // namespace berth
