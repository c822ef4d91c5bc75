// SPDX-License-Identifier: Apache-2.0
// ClusterState: every store, and the indexes kept beside them at each update. The live shell feeds
// it from informers; `berth plan` fills one from a dump and changes a copy of it: a copy shares the
// objects, so a what-if costs pointers.
//
// Loop thread only. References into it hold until the next change.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apis/core.h"
#include "apis/mig_layout.h"
#include "controller/core/store.h"

namespace berth {

// In (namespace, name) order. A set, since one resource may have fifty thousand users and each
// update replaces one of them.
struct PodByKey {
  bool operator()(const Pod* a, const Pod* b) const {
    return KeyView{a->meta.namespace_.view(), a->meta.name} <
           KeyView{b->meta.namespace_.view(), b->meta.name};
  }
};
using PodSet = std::set<const Pod*, PodByKey>;

class ClusterState {
 public:
  const Store<MIGLayout>& mig_layouts() const { return mig_layouts_; }
  const Store<Node>& nodes() const { return nodes_; }
  const Store<Pod>& pods() const { return pods_; }
  const Store<PodDisruptionBudget>& budgets() const { return budgets_; }
  const Store<Job>& jobs() const { return jobs_; }
  const Store<ConfigMap>& config_maps() const { return config_maps_; }
  const Store<DaemonSet>& daemon_sets() const { return daemon_sets_; }
  const Store<ClusterPolicy>& cluster_policies() const { return cluster_policies_; }
  template <class T>
  const Store<T>& store() const;

  // `now` dates the change for allocatable_since().
  template <class T>
  typename Store<T>::Upserted upsert(T object, Time now);
  template <class T>
  typename Store<T>::Ptr erase(std::string_view namespace_, std::string_view name);

  // Pods bound to the node, finished ones too, in no particular order.
  const std::vector<const Pod*>& pods_on(std::string_view node) const;
  // Since when this process has seen the node's allocatable, readiness and boot id as they are now.
  Time allocatable_since(std::string_view node) const;
  // Pods that are bound, unfinished and ask for a non-zero count of the GPU resource.
  const PodSet& pods_using(std::string_view resource) const;

 private:
  void index_pod(const Pod& pod);
  void unindex_pod(const Pod& pod);

  Store<MIGLayout> mig_layouts_;
  Store<Node> nodes_;
  Store<Pod> pods_;
  Store<PodDisruptionBudget> budgets_;
  Store<Job> jobs_;
  Store<ConfigMap> config_maps_;
  Store<DaemonSet> daemon_sets_;
  Store<ClusterPolicy> cluster_policies_;
  std::map<Text, std::vector<const Pod*>> pods_by_node_;
  std::map<Text, PodSet> pods_by_gpu_resource_;
  std::map<std::string, Time, std::less<>> allocatable_since_;
};

}  // namespace berth
