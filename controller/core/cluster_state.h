// SPDX-License-Identifier: Apache-2.0
// ClusterState: every store, and the indexes kept beside them at each update. The live shell feeds
// it from informers; `berth plan` fills one from a dump and changes a copy of it: a copy shares the
// objects, so a what-if costs pointers.
//
// Loop thread only. References into it hold until the next change.
#pragma once

#include <any>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "apis/watched_kinds.h"
#include "controller/core/occupant.h"
#include "controller/core/store.h"

namespace berth {

// A set, since one resource may have fifty thousand users and each update replaces one of them.
using PodSet = std::unordered_set<const Pod*>;

struct NodeByName {
  bool operator()(const Node* a, const Node* b) const { return a->meta.name < b->meta.name; }
};
using NodeSet = std::set<const Node*, NodeByName>;

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

  // Pods bound to the node, finished ones too, in no particular order.
  const std::vector<const Pod*>& pods_on(std::string_view node) const;
  // Those of them that are not finished, packed for walks over the fleet.
  const std::vector<Occupant>& occupants_of(std::string_view node) const;
  // How many unfinished, bound pods carry the pod group's label in the namespace.
  std::int64_t pod_group_size(std::string_view namespace_, std::string_view group) const;
  // Nodes whose rollout annotation says another phase than Idle, and those on which a config has
  // failed. Few of many, and asked for at every step: nobody should walk the fleet for them. What
  // the annotation says in full is the reader's to judge.
  const NodeSet& nodes_under_way() const { return nodes_under_way_; }
  const NodeSet& nodes_with_failures() const { return nodes_with_failures_; }
  // What a folder above makes of nodes, layouts and policies, ours and NVIDIA's: View(*this), kept
  // until one of them changes. A copy of the state shares it until then. One kind of View is asked
  // for in turn, or it is made anew each time.
  template <class View>
  const View& fleet_view() const {
    const auto* kept = std::any_cast<std::shared_ptr<const View>>(&fleet_view_);
    if (kept == nullptr)
      kept = &fleet_view_.emplace<std::shared_ptr<const View>>(std::make_shared<View>(*this));
    return **kept;
  }
  // Since when this process has seen the node's allocatable, readiness and boot id as they are now.
  Time allocatable_since(std::string_view node) const;
  // Pods that are bound, unfinished and ask for a non-zero count of the GPU resource, in no
  // particular order.
  const PodSet& pods_using(std::string_view resource) const;

 private:
  // Looked up by the text, whatever it is held in.
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
    // Packed when first asked for after a change: only fleets that are being repartitioned are.
    mutable std::vector<Occupant> occupants;
    mutable bool packed = false;
  };
  void index_pod(const Pod& pod);
  void unindex_pod(const Pod& pod);
  void index_node(const Node& node);
  void unindex_node(const Node& node);

  Watched::Map<std::tuple, Store> stores_;
  ByText<Text, PodsOnNode> pods_by_node_;
  ByText<Text, PodSet> pods_by_gpu_resource_;
  std::map<std::pair<Text, Text>, std::int64_t> pod_groups_;  // by namespace and name
  ByText<std::string, Time> allocatable_since_;
  NodeSet nodes_under_way_;
  NodeSet nodes_with_failures_;
  mutable std::any fleet_view_;
};

}  // namespace berth
