// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "apis/names.h"
#include "controller/mig/capacity_guard.h"
#include "controller/mig/drain.h"
#include "controller/mig/node_facts.h"

namespace berth {
namespace {

constexpr char kGangAnnotation[] = "gpu.berth.dev/gang";

std::int64_t gpus_of(const Pod& pod) {
  std::int64_t count = 0;
  for (const auto& [resource, quantity] : pod.requests)
    if (is_gpu_resource(resource.view())) count += quantity.rounded_up();
  return std::max<std::int64_t>(count, 1);
}

std::int64_t work_lost_s(const Pod& pod, Time now) {
  std::optional<Time> from = pod.start_time;
  if (const Text* text = pod.meta.annotations.find(names::kLastCheckpointAnnotation))
    if (Result<Time> checkpoint = parse_time(text->view()))
      from = std::max(*checkpoint, from.value_or(*checkpoint));
  if (!from || *from >= now) return 0;
  return std::chrono::duration_cast<std::chrono::seconds>(now - *from).count();
}

}  // namespace

std::string describe(const Disruption& d) {
  if (!d.pods) return "no pod has to leave";
  return fmt::format("{} pod{} end{}, of priority {} at most, {} of GPU work since checkpoints",
                     d.ended, d.ended == 1 ? "" : "s", d.ended == 1 ? "s" : "", d.priority,
                     format_duration_short(std::chrono::seconds(d.lost_gpu_seconds)));
}

Disruption DisruptionCost::of(const Node& node, const DrainSpec& drain) {
  Disruption cost;
  std::set<std::pair<std::string_view, std::string_view>> gangs_seen;
  for (const Pod* pod : snapshot_.cluster.pods_on(node.meta.name)) {
    if (!must_leave(*pod, drain, snapshot_.settings)) continue;
    cost.priority =
        cost.pods ? std::max<std::int64_t>(cost.priority, pod->priority) : pod->priority;
    cost.pods = true;
    const Text* gang = pod->meta.labels.find(names::kPodGroupLabel);
    const OwnerReference* owner = pod->meta.controller();
    if (gang != nullptr) {
      if (gangs_seen.emplace(pod->meta.namespace_.view(), gang->view()).second)
        cost.ended += gang_size(*pod);
    } else if (owner != nullptr && owner->kind == "Job" &&
               pod->meta.annotations.get(kGangAnnotation) != "false") {
      const Job* job =
          snapshot_.cluster.jobs().find(pod->meta.namespace_.view(), owner->name.view());
      if (gangs_seen.emplace("Job", owner->uid.view()).second)
        cost.ended += job != nullptr ? std::max(job->parallelism, 1) : 1;
    } else {
      ++cost.ended;
    }
    cost.lost_gpu_seconds += work_lost_s(*pod, snapshot_.now) * gpus_of(*pod);
  }
  return cost;
}

std::int64_t DisruptionCost::homeless(const Node& node, const DrainSpec& drain) {
  std::int64_t count = 0;
  for (const Pod* pod : snapshot_.cluster.pods_on(node.meta.name))
    if (must_leave(*pod, drain, snapshot_.settings) && !fits_elsewhere(*pod)) ++count;
  return count;
}

std::int64_t DisruptionCost::gang_size(const Pod& pod) {
  if (!counted_) count_gangs();
  auto it = gangs_.find(
      {pod.meta.namespace_.view(), pod.meta.labels.find(names::kPodGroupLabel)->view()});
  return it == gangs_.end() ? 1 : it->second;
}

void DisruptionCost::count_gangs() {
  counted_ = true;
  for (const auto& pod : snapshot_.cluster.pods()) {
    if (pod->finished() || pod->node_name.empty()) continue;
    if (const Text* gang = pod->meta.labels.find(names::kPodGroupLabel))
      ++gangs_[{pod->meta.namespace_.view(), gang->view()}];
  }
}

// An estimate for ordering only: whether one other node has as much of each resource free.
bool DisruptionCost::fits_elsewhere(const Pod& pod) {
  if (!measured_) measure_room();
  return std::ranges::all_of(pod.requests, [&](const auto& request) {
    if (!is_gpu_resource(request.first.view())) return true;
    auto it = room_.find(request.first.view());
    if (it == room_.end()) return false;
    const std::int64_t free =
        it->second.node == pod.node_name.view() ? it->second.second : it->second.most;
    return free >= request.second.rounded_up();
  });
}

void DisruptionCost::measure_room() {
  measured_ = true;
  for (const auto& node : snapshot_.cluster.nodes()) {
    if (!in_service(*node)) continue;
    Capacity free = gpu_capacity(*node);
    for (const Pod* pod : snapshot_.cluster.pods_on(node->meta.name)) {
      if (pod->finished()) continue;
      for (const auto& [resource, quantity] : pod->requests)
        if (auto it = free.find(resource.view()); it != free.end())
          it->second -= quantity.rounded_up();
    }
    for (const auto& [resource, count] : free) {
      Room& room = room_[resource];
      if (count > room.most) {
        room = {node->meta.name, count, room.most};
      } else {
        room.second = std::max(room.second, count);
      }
    }
  }
}

}  // namespace berth
