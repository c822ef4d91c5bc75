// SPDX-License-Identifier: Apache-2.0
// WatchedKinds: the kinds that berth keeps in memory, in one table. A new one is its struct
// with its kKind, its reader, a row here, and what docs/architecture.md lists beside it.
#pragma once

#include "apis/core.h"
#include "apis/gpu_cluster_policy.h"
#include "apis/gpu_queue.h"
#include "apis/mig_layout.h"
#include "apis/resource_quota.h"

namespace berth {

enum class WatchScope {
  kCluster,     // all there are
  kUnfinished,  // those that have not ended, and the few others of core/ended_pods.h
  kAgents,      // those in the namespace of NVIDIA's agents
  kLedger,      // those, and the ledgers in berth's own: the rest is nobody's business, nor our
                // memory's
};
struct Watching {
  WatchScope scope;
  bool optional;  // berth works without it: the CRD may not be installed
};

// Its struct, where it is watched, whether the API server may lack it.
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
  // Of<T…>: a tuple, say.
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
