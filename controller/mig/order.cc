// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/order.h"

#include <fmt/format.h>

#include <algorithm>

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

// A batch Job is a gang by its parallelism.
std::int64_t job_size(const Snapshot& snapshot, const Pod& pod) {
  const Job* job =
      snapshot.cluster.jobs().find(pod.meta.namespace_.view(), pod.meta.controller()->name.view());
  return job != nullptr ? std::max(job->parallelism, 1) : 1;
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
  Demands demands;
  std::vector<std::pair<std::string_view, std::string_view>> gangs;
  auto is_new = [&](std::string_view space, std::string_view name) {
    const std::pair gang(space, name);
    if (std::ranges::find(gangs, gang) != gangs.end()) return false;
    gangs.push_back(gang);
    return true;
  };
  for (const Pod* pod : snapshot_.cluster.pods_on(node.meta.name)) {
    if (pod->finished()) continue;
    const bool leaves = must_leave(*pod, drain, snapshot_.settings);
    for (const auto& [resource, quantity] : pod->requests)
      if (is_gpu_resource(resource.view()))
        demands.push_back({resource.view(), quantity.rounded_up(), leaves});
    if (!leaves) continue;
    cost.priority =
        cost.pods ? std::max<std::int64_t>(cost.priority, pod->priority) : pod->priority;
    cost.pods = true;
    const Text* gang = pod->meta.labels.find(names::kPodGroupLabel);
    const OwnerReference* owner = pod->meta.controller();
    if (gang != nullptr) {
      if (is_new(pod->meta.namespace_.view(), gang->view())) cost.ended += gang_size(*pod);
    } else if (owner != nullptr && owner->kind == "Job" &&
               pod->meta.annotations.get(kGangAnnotation) != "false") {
      if (is_new("Job", owner->uid.view())) cost.ended += job_size(snapshot_, *pod);
    } else {
      ++cost.ended;
    }
    cost.lost_gpu_seconds += work_lost_s(*pod, snapshot_.now) * gpus_of(*pod);
  }
  demands_[&node] = std::move(demands);
  return cost;
}

std::int64_t DisruptionCost::homeless(const Node& node) {
  if (!measured_) measure_room();
  return std::ranges::count_if(demands_[&node], [&](const Demand& demand) {
    return demand.leaves && !fits_elsewhere(demand, node);
  });
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

// An estimate for ordering only: whether one other node has as much free.
bool DisruptionCost::fits_elsewhere(const Demand& demand, const Node& node) const {
  auto it = room_.find(demand.resource);
  if (it == room_.end()) return false;
  return (it->second.node == &node ? it->second.second : it->second.most) >= demand.count;
}

DisruptionCost::Demands DisruptionCost::demands_on(const Node& node) const {
  Demands demands;
  for (const Pod* pod : snapshot_.cluster.pods_on(node.meta.name)) {
    if (pod->finished()) continue;
    for (const auto& [resource, quantity] : pod->requests)
      if (is_gpu_resource(resource.view()))
        demands.push_back({resource.view(), quantity.rounded_up(), false});
  }
  return demands;
}

void DisruptionCost::measure_room() {
  measured_ = true;
  for (const auto& node : snapshot_.cluster.nodes()) {
    if (!in_service(*node) || !offers_gpus(*node)) continue;
    Capacity free = gpu_capacity(*node);
    auto known = demands_.find(node.get());
    Demands unseen;
    const Demands& demands = known != demands_.end() ? known->second : (unseen = demands_on(*node));
    for (const Demand& demand : demands)
      if (auto it = free.find(demand.resource); it != free.end()) it->second -= demand.count;
    for (const auto& [resource, count] : free) {
      Room& room = room_[resource];
      if (count > room.most)
        room = {node.get(), count, room.most};
      else
        room.second = std::max(room.second, count);
    }
  }
}

}  // namespace berth
