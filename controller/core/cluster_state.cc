// SPDX-License-Identifier: Apache-2.0
#include "controller/core/cluster_state.h"

#include <algorithm>
#include <type_traits>

namespace berth {
namespace {

const std::vector<const Pod*> kNoPods;
const PodSet kNoPodSet;

bool counts_as_user(const Pod& pod) { return !pod.node_name.empty() && !pod.finished(); }

// What a device plugin, a kubelet or a reboot can change about what the node offers.
bool offers_the_same(const Node& a, const Node& b) {
  return a.meta.uid == b.meta.uid && a.ready == b.ready && a.boot_id == b.boot_id &&
         a.allocatable == b.allocatable;
}

}  // namespace

template <class T>
const Store<T>& ClusterState::store() const {
  if constexpr (std::is_same_v<T, MIGLayout>) return mig_layouts_;
  if constexpr (std::is_same_v<T, Node>) return nodes_;
  if constexpr (std::is_same_v<T, Pod>) return pods_;
  if constexpr (std::is_same_v<T, PodDisruptionBudget>) return budgets_;
  if constexpr (std::is_same_v<T, Job>) return jobs_;
  if constexpr (std::is_same_v<T, ConfigMap>) return config_maps_;
  if constexpr (std::is_same_v<T, DaemonSet>) return daemon_sets_;
  if constexpr (std::is_same_v<T, ClusterPolicy>) return cluster_policies_;
}

template <class T>
typename Store<T>::Upserted ClusterState::upsert(T object, Time now) {
  auto& store = const_cast<Store<T>&>(std::as_const(*this).store<T>());
  auto result = store.upsert(std::move(object));
  if constexpr (std::is_same_v<T, Pod>) {
    if (result.old) unindex_pod(*result.old);
    index_pod(*result.current);
  }
  if constexpr (std::is_same_v<T, Node>) {
    if (!result.old || !offers_the_same(*result.old, *result.current))
      allocatable_since_[result.current->meta.name] = now;
  }
  return result;
}

template <class T>
typename Store<T>::Ptr ClusterState::erase(std::string_view namespace_, std::string_view name) {
  auto& store = const_cast<Store<T>&>(std::as_const(*this).store<T>());
  auto old = store.erase(namespace_, name);
  if (!old) return old;
  if constexpr (std::is_same_v<T, Pod>) unindex_pod(*old);
  if constexpr (std::is_same_v<T, Node>) allocatable_since_.erase(old->meta.name);
  return old;
}

const std::vector<const Pod*>& ClusterState::pods_on(std::string_view node) const {
  auto it = pods_by_node_.find(Text(node));
  return it == pods_by_node_.end() ? kNoPods : it->second;
}

const PodSet& ClusterState::pods_using(std::string_view resource) const {
  auto it = pods_by_gpu_resource_.find(Text(resource));
  return it == pods_by_gpu_resource_.end() ? kNoPodSet : it->second;
}

Time ClusterState::allocatable_since(std::string_view node) const {
  auto it = allocatable_since_.find(node);
  return it == allocatable_since_.end() ? Time::max() : it->second;
}

void ClusterState::index_pod(const Pod& pod) {
  if (!pod.node_name.empty()) pods_by_node_[pod.node_name].push_back(&pod);
  if (!counts_as_user(pod)) return;
  for (const auto& [resource, count] : pod.requests)
    if (!count.is_zero() && is_gpu_resource(resource)) pods_by_gpu_resource_[resource].insert(&pod);
}

void ClusterState::unindex_pod(const Pod& pod) {
  if (auto it = pods_by_node_.find(pod.node_name); it != pods_by_node_.end()) {
    std::erase(it->second, &pod);
    if (it->second.empty()) pods_by_node_.erase(it);
  }
  if (!counts_as_user(pod)) return;
  for (const auto& [resource, count] : pod.requests) {
    auto it = pods_by_gpu_resource_.find(resource);
    if (it == pods_by_gpu_resource_.end()) continue;
    it->second.erase(&pod);
    if (it->second.empty()) pods_by_gpu_resource_.erase(it);
  }
}

#define BERTH_INSTANTIATE(T)                                             \
  template const Store<T>& ClusterState::store<T>() const;               \
  template typename Store<T>::Upserted ClusterState::upsert<T>(T, Time); \
  template typename Store<T>::Ptr ClusterState::erase<T>(std::string_view, std::string_view);
BERTH_INSTANTIATE(MIGLayout)
BERTH_INSTANTIATE(Node)
BERTH_INSTANTIATE(Pod)
BERTH_INSTANTIATE(PodDisruptionBudget)
BERTH_INSTANTIATE(Job)
BERTH_INSTANTIATE(ConfigMap)
BERTH_INSTANTIATE(DaemonSet)
BERTH_INSTANTIATE(ClusterPolicy)
#undef BERTH_INSTANTIATE

}  // namespace berth
