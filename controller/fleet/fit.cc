// SPDX-License-Identifier: Apache-2.0
#include "controller/fleet/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace berth {
namespace {

Quantity free_of(const Node& node, const ResourceList& used, std::string_view resource) {
  return node.allocatable.get(resource) - used.get(resource);
}

constexpr char kPods[] = "pods";

}  // namespace

Fit::Fit(const ClusterState& cluster) {
  for (const auto& node : cluster.nodes()) rooms_[node->meta.name].node = node.get();
  for (const auto& [name, room] : rooms_)
    for (const Pod* pod : cluster.pods_on(name))
      if (!pod->finished()) charge(*pod, true);
  for (const auto& [name, room] : rooms_) index(room);
}

template <class Found>
void Fit::each_obstacle(const Pod& pod, const Room& room, Found&& found) const {
  const Node& node = *room.node;
  if (!node.ready && !found(Verdict::kNotReady)) return;
  if (node.cordoned() && !found(Verdict::kCordoned)) return;
  if (!selects(pod, node) && !found(Verdict::kNotSelected)) return;
  if (!tolerates_taints(pod, node) && !found(Verdict::kTainted)) return;
  for (const auto& [resource, count] : gpus_in(pod.shape->requests))
    if (node.allocatable.get(resource).is_zero()) {
      found(Verdict::kLacksGpu);
      return;
    }
  const bool full = std::ranges::any_of(pod.shape->requests, [&](const auto& request) {
    return !request.second.is_zero() && free_of(node, room.used, request.first) < request.second;
  });
  const bool no_pod_more =
      node.allocatable.contains(kPods) && free_of(node, room.used, kPods) < Quantity::whole(1);
  if (full || no_pod_more) found(Verdict::kFull);
}

Fit::Verdict Fit::judge(const Pod& pod, const Room& room) const {
  Verdict first = Verdict::kFits;
  each_obstacle(pod, room, [&](Verdict verdict) {
    first = verdict;
    return false;
  });
  return first;
}

std::vector<Fit::Verdict> Fit::obstacles(const Pod& pod, std::string_view node) const {
  std::vector<Verdict> all;
  auto room = rooms_.find(node);
  if (room == rooms_.end()) return all;
  each_obstacle(pod, room->second, [&](Verdict verdict) {
    all.push_back(verdict);
    return true;
  });
  return all;
}

Quantity Fit::free_on(std::string_view node, std::string_view resource) const {
  auto room = rooms_.find(node);
  if (room == rooms_.end()) return Quantity();
  return free_of(*room->second.node, room->second.used, resource);
}

const Node* Fit::place(const Pod& pod) const {
  const Text resource = gpu_resource_of(pod);
  const Node* best = nullptr;
  Quantity most;
  auto consider = [&](const Room& room) {
    const Quantity free = free_of(*room.node, room.used, resource);
    if ((best != nullptr && free <= most) || judge(pod, room) != Verdict::kFits) return;
    best = room.node;
    most = free;
  };
  if (resource.empty()) {
    for (const auto& [name, room] : rooms_) consider(room);
  } else if (auto names = with_room_.find(resource); names != with_room_.end()) {
    for (const std::string& name : names->second) consider(rooms_.find(name)->second);
  }
  return best;
}

bool Fit::fits(const Pod& pod, std::string_view node) const {
  auto room = rooms_.find(node);
  return room != rooms_.end() && judge(pod, room->second) == Verdict::kFits;
}

std::string Fit::explain(const Pod& pod) const {
  if (explained_.holds && explained_.shape == pod.shape) return explained_.text;
  std::array<int, 7> counts{};
  for (const auto& [name, room] : rooms_) ++counts[static_cast<std::size_t>(judge(pod, room))];
  const std::string lacks = fmt::format("without {}", gpu_resource_of(pod).view());
  const std::array<std::string_view, 7> words = {
      "", "not ready", "cordoned", "not matching its node selector", "tainted", lacks, "full"};
  std::string out;
  for (std::size_t i = 1; i < words.size(); ++i)
    if (counts[i] > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", counts[i], words[i]);
  explained_ = {true, pod.shape,
                fmt::format("0 of {} nodes{}{}", rooms_.size(), out.empty() ? "" : ": ", out)};
  return explained_.text;
}

std::vector<Taint> untolerated(const Pod& pod, const Node& node) {
  std::vector<Taint> taints;
  for (const Taint& taint : node.taints)
    if (taint.effect != "PreferNoSchedule" && !tolerates(pod.shape->tolerations, taint))
      taints.push_back(taint);
  return taints;
}

Text Fit::gpu_resource_of(const Pod& pod) {
  const GpusIn gpus = gpus_in(pod.shape->requests);
  return gpus.empty() ? Text() : (*gpus.begin()).first;
}

bool Fit::has_room(std::string_view node, const Text& resource) const {
  auto names = with_room_.find(resource);
  return names != with_room_.end() && names->second.contains(node);
}

void Fit::node_changed(const Node& node) {
  Room& room = rooms_[node.meta.name];
  room.node = &node;
  explained_.holds = false;
  for (auto& [resource, names] : with_room_) names.erase(node.meta.name);
  index(room);
}

void Fit::pod_bound(const Pod& pod) { charge(pod, true); }
void Fit::pod_left(const Pod& pod) { charge(pod, false); }

void Fit::charge(const Pod& pod, bool add) {
  auto found = rooms_.find(pod.node_name.view());
  if (found == rooms_.end()) return;
  Room& room = found->second;
  if (room.open()) explained_.holds = false;
  auto change = [&](std::string_view resource, const Quantity& count) {
    Quantity& used = room.used[resource];
    used = add ? used + count : used - count;
  };
  for (const auto& [resource, count] : pod.shape->requests) change(resource, count);
  change(kPods, Quantity::whole(1));
  for (const auto& [resource, count] : gpus_in(pod.shape->requests)) {
    if (room.open() && free_of(*room.node, room.used, resource) > Quantity())
      with_room_[resource].insert(room.node->meta.name);
    else if (auto names = with_room_.find(resource); names != with_room_.end())
      names->second.erase(room.node->meta.name);
  }
}

void Fit::index(const Room& room) {
  if (!room.open()) return;
  for (const auto& [resource, count] : gpus_in(room.node->allocatable))
    if (free_of(*room.node, room.used, resource) > Quantity())
      with_room_[resource].insert(room.node->meta.name);
}

}  // namespace berth
