// SPDX-License-Identifier: Apache-2.0
#include "controller/core/cluster_state.h"

#include <algorithm>
#include <type_traits>

namespace berth {
namespace {

const std::vector<const Pod*> kNoPods;
const std::vector<Occupant> kNoOccupants;

// Compares all that a device plugin, a kubelet or a reboot can change in what the node offers.
bool offers_the_same(const Node& a, const Node& b) {
  return a.meta.uid == b.meta.uid && a.ready == b.ready && a.boot_id == b.boot_id &&
         a.allocatable == b.allocatable;
}

}  // namespace

template <class T>
typename Store<T>::Upserted ClusterState::upsert(T object, Time now) {
  auto& store = std::get<Store<T>>(stores_);
  auto result = store.upsert(std::move(object));
  if constexpr (std::is_same_v<T, Pod>) {
    if (result.old) unindex_pod(*result.old);
    index_pod(*result.current);
  }
  if constexpr (std::is_same_v<T, Node>)
    if (!result.old || !offers_the_same(*result.old, *result.current))
      allocatable_since_[result.current->meta.name] = now;
  views_.follow(
      Change<T>{result.old.get(), result.current.get(), result.change != StoreChange::kUnchanged});
  return result;
}

template <class T>
typename Store<T>::Ptr ClusterState::erase(std::string_view namespace_, std::string_view name) {
  auto& store = std::get<Store<T>>(stores_);
  auto old = store.erase(namespace_, name);
  if (!old) return old;
  if constexpr (std::is_same_v<T, Pod>) unindex_pod(*old);
  if constexpr (std::is_same_v<T, Node>) allocatable_since_.erase(old->meta.name);
  views_.follow(Change<T>{old.get(), nullptr});
  return old;
}

const std::vector<const Pod*>& ClusterState::pods_on(std::string_view node) const {
  auto it = pods_by_node_.find(node);
  return it == pods_by_node_.end() ? kNoPods : it->second.pods;
}

const std::vector<Occupant>& ClusterState::occupants_of(std::string_view node) const {
  auto it = pods_by_node_.find(node);
  if (it == pods_by_node_.end()) return kNoOccupants;
  const PodsOnNode& on = it->second;
  if (!on.packed) {
    on.occupants.clear();
    on.occupants.reserve(on.pods.size());
    for (const Pod* pod : on.pods)
      if (!pod->finished()) on.occupants.push_back(occupant_of(*pod));
    on.packed = true;
  }
  return on.occupants;
}

Time ClusterState::allocatable_since(std::string_view node) const {
  auto it = allocatable_since_.find(node);
  return it == allocatable_since_.end() ? Time::max() : it->second;
}

void ClusterState::index_pod(const Pod& pod) {
  if (pod.node_name.empty()) return;
  PodsOnNode& on = pods_by_node_[pod.node_name];
  on.pods.push_back(&pod);
  on.packed = false;
}

void ClusterState::unindex_pod(const Pod& pod) {
  auto it = pods_by_node_.find(pod.node_name.view());
  if (it == pods_by_node_.end()) return;
  PodsOnNode& on = it->second;
  std::erase(on.pods, &pod);
  on.packed = false;
  if (on.pods.empty()) pods_by_node_.erase(it);
}

#define BERTH_INSTANTIATE(T, ...)                                        \
  template typename Store<T>::Upserted ClusterState::upsert<T>(T, Time); \
  template typename Store<T>::Ptr ClusterState::erase<T>(std::string_view, std::string_view);
BERTH_WATCHED_KINDS(BERTH_INSTANTIATE)
#undef BERTH_INSTANTIATE

}  // namespace berth
