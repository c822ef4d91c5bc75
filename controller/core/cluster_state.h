// SPDX-License-Identifier: Apache-2.0
// ClusterState: every store, the pods of each node, and the views that other folders derive from
// the stores (view.h). The live shell feeds it from informers. `berth plan` fills one from a dump
// and changes a copy. A copy shares the objects, so a what-if copies only pointers.
//
// Loop thread only. References into it hold until the next change.
#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "apis/kinds/watched_kinds.h"
#include "controller/core/occupant.h"
#include "controller/core/store.h"
#include "controller/core/view.h"

namespace berth {

class ClusterState {
 public:
  const Store<MIGLayout>& mig_layouts() const { return store<MIGLayout>(); }
  const Store<Node>& nodes() const { return store<Node>(); }
  const Store<Pod>& pods() const { return store<Pod>(); }
  const Store<PodDisruptionBudget>& pod_disruption_budgets() const {
    return store<PodDisruptionBudget>();
  }
  const Store<Job>& jobs() const { return store<Job>(); }
  const Store<ConfigMap>& config_maps() const { return store<ConfigMap>(); }
  const Store<DaemonSet>& daemon_sets() const { return store<DaemonSet>(); }
  const Store<ClusterPolicy>& cluster_policies() const { return store<ClusterPolicy>(); }
  const Store<GPUClusterPolicy>& gpu_policies() const { return store<GPUClusterPolicy>(); }
  const Store<GPUQueue>& gpu_queues() const { return store<GPUQueue>(); }
  const Store<Namespace>& namespaces() const { return store<Namespace>(); }
  const Store<PriorityClass>& priority_classes() const { return store<PriorityClass>(); }
  template <class T>
  const Store<T>& store() const {
    return std::get<Store<T>>(stores_);
  }

  // `now` dates the change for allocatable_since().
  template <class T>
  typename Store<T>::Upserted upsert(T object, Time now);
  template <class T>
  typename Store<T>::Ptr erase(std::string_view namespace_, std::string_view name);
  // The resourceVersion of one received change, and the one up to which all changes are here
  // (store.h).
  template <class T>
  void hear(const std::string& version) {
    std::get<Store<T>>(stores_).hear(version);
  }
  template <class T>
  void hear_all(const std::string& version) {
    std::get<Store<T>>(stores_).hear_all(version);
  }

  // Pods bound to the node, finished ones too, in no particular order.
  const std::vector<const Pod*>& pods_on(std::string_view node) const;
  // The unfinished ones among them, packed for loops over all nodes.
  const std::vector<Occupant>& occupants_of(std::string_view node) const;
  // Built from the stores at the first call and updated with each change from then on. The
  // reference holds until the next change.
  template <class View>
  const View& view() const {
    const View* kept = views_.find<View>();
    return kept != nullptr ? *kept : views_.add(rebuilt<View>());
  }
  // The same view, built again from the stores.
  template <class View>
  View rebuilt() const {
    View view;
    Watched::each([&]<class T>() {
      if constexpr (Follows<View, T>)
        for (const auto& object : store<T>()) view.follow(Change<T>{nullptr, object.get()});
    });
    return view;
  }
  // Since when this process has seen the node's present allocatable, readiness and boot id.
  Time allocatable_since(std::string_view node) const;

 private:
  // Finds a key by its text, whether the map holds it as Text or as std::string.
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  struct TextEqual {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return a == b; }
  };
  template <class Key, class T>
  using ByText = std::unordered_map<Key, T, TextHash, TextEqual>;

  struct PodsOnNode {
    std::vector<const Pod*> pods;
    // Packed at the first call after a change: berth asks only for nodes that it may repartition.
    mutable std::vector<Occupant> occupants;
    mutable bool packed = false;
  };
  void index_pod(const Pod& pod);
  void unindex_pod(const Pod& pod);

  Watched::Map<std::tuple, Store> stores_;
  ByText<Text, PodsOnNode> pods_by_node_;
  ByText<std::string, Time> allocatable_since_;
  mutable Views views_;  // mutable: a view is a cache, so adding one changes no facts
};

}  // namespace berth
