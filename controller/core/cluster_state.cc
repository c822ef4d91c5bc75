// SPDX-License-Identifier: Apache-2.0
#include "controller/core/cluster_state.h"

#include <algorithm>
#include <type_traits>

#include "apis/names.h"

namespace berth {
namespace {

const std::vector<const Pod*> kNoPods;
const std::vector<Occupant> kNoOccupants;
const PodSet kNoPodSet;

const Text* rollout_text(const Node& node) {
  return node.meta.annotations.find(names::kRolloutAnnotation);
}

// The annotation's own form (fixed key order, no spaces); one that a person rewrote counts as under
// way until it is read.
bool says_idle(std::string_view rollout) {
  constexpr std::string_view kPhase = R"("phase":"Idle")", kMark = R"(Idle")";
  // Looked for by its rarest letter.
  for (std::size_t at = rollout.find(kMark); at != rollout.npos; at = rollout.find(kMark, at + 1))
    if (rollout.substr(0, at + kMark.size()).ends_with(kPhase)) return true;
  return false;
}

bool counts_as_user(const Pod& pod) { return !pod.node_name.empty() && !pod.finished(); }

// What a device plugin, a kubelet or a reboot can change about what the node offers.
bool offers_the_same(const Node& a, const Node& b) {
  return a.meta.uid == b.meta.uid && a.ready == b.ready && a.boot_id == b.boot_id &&
         a.allocatable == b.allocatable;
}

template <class T>
constexpr bool kOfTheFleet =
    std::is_same_v<T, Node> || std::is_same_v<T, MIGLayout> ||
    std::is_same_v<T, GPUClusterPolicy> || std::is_same_v<T, ClusterPolicy>;

}  // namespace

template <class T>
typename Store<T>::Upserted ClusterState::upsert(T object, Time now) {
  auto& store = std::get<Store<T>>(stores_);
  auto result = store.upsert(std::move(object));
  if (kOfTheFleet<T> && result.change != StoreChange::kUnchanged) fleet_view_.reset();
  if constexpr (std::is_same_v<T, Pod>) {
    if (result.old) unindex_pod(*result.old);
    index_pod(*result.current);
  }
  if constexpr (std::is_same_v<T, Node>) {
    if (result.old) unindex_node(*result.old);
    index_node(*result.current);
    if (!result.old || !offers_the_same(*result.old, *result.current))
      allocatable_since_[result.current->meta.name] = now;
  }
  return result;
}

template <class T>
typename Store<T>::Ptr ClusterState::erase(std::string_view namespace_, std::string_view name) {
  auto& store = std::get<Store<T>>(stores_);
  auto old = store.erase(namespace_, name);
  if (!old) return old;
  if (kOfTheFleet<T>) fleet_view_.reset();
  if constexpr (std::is_same_v<T, Pod>) unindex_pod(*old);
  if constexpr (std::is_same_v<T, Node>) {
    unindex_node(*old);
    allocatable_since_.erase(old->meta.name);
  }
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

std::int64_t ClusterState::pod_group_size(std::string_view namespace_,
                                          std::string_view group) const {
  auto it = pod_groups_.find({Text(namespace_), Text(group)});
  return it == pod_groups_.end() ? 0 : it->second;
}

const PodSet& ClusterState::pods_using(std::string_view resource) const {
  auto it = pods_by_gpu_resource_.find(resource);
  return it == pods_by_gpu_resource_.end() ? kNoPodSet : it->second;
}

Time ClusterState::allocatable_since(std::string_view node) const {
  auto it = allocatable_since_.find(node);
  return it == allocatable_since_.end() ? Time::max() : it->second;
}

void ClusterState::index_pod(const Pod& pod) {
  if (!pod.node_name.empty()) {
    PodsOnNode& on = pods_by_node_[pod.node_name];
    on.pods.push_back(&pod);
    on.packed = false;
  }
  if (!counts_as_user(pod)) return;
  if (const Text* group = pod.meta.labels.find(names::kPodGroupLabel))
    ++pod_groups_[{pod.meta.namespace_, *group}];
  for (const auto& [resource, count] : pod.requests)
    if (!count.is_zero() && is_gpu_resource(resource)) pods_by_gpu_resource_[resource].insert(&pod);
}

void ClusterState::unindex_pod(const Pod& pod) {
  if (auto it = pods_by_node_.find(pod.node_name.view()); it != pods_by_node_.end()) {
    PodsOnNode& on = it->second;
    std::erase(on.pods, &pod);
    on.packed = false;
    if (on.pods.empty()) pods_by_node_.erase(it);
  }
  if (!counts_as_user(pod)) return;
  if (const Text* group = pod.meta.labels.find(names::kPodGroupLabel)) {
    auto it = pod_groups_.find({pod.meta.namespace_, *group});
    if (it != pod_groups_.end() && --it->second == 0) pod_groups_.erase(it);
  }
  for (const auto& [resource, count] : pod.requests) {
    auto it = pods_by_gpu_resource_.find(resource.view());
    if (it == pods_by_gpu_resource_.end()) continue;
    it->second.erase(&pod);
    if (it->second.empty()) pods_by_gpu_resource_.erase(it);
  }
}

void ClusterState::index_node(const Node& node) {
  const Text* rollout = rollout_text(node);
  if (rollout == nullptr) return;
  if (!says_idle(rollout->view())) nodes_under_way_.insert(&node);
  if (rollout->view().find("failedConfig") != std::string_view::npos)
    nodes_with_failures_.insert(&node);
}

void ClusterState::unindex_node(const Node& node) {
  nodes_under_way_.erase(&node);
  nodes_with_failures_.erase(&node);
}

#define BERTH_INSTANTIATE(T, ...)                                        \
  template typename Store<T>::Upserted ClusterState::upsert<T>(T, Time); \
  template typename Store<T>::Ptr ClusterState::erase<T>(std::string_view, std::string_view);
BERTH_WATCHED_KINDS(BERTH_INSTANTIATE)
#undef BERTH_INSTANTIATE

}  // namespace berth
