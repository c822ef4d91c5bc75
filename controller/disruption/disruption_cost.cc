// SPDX-License-Identifier: Apache-2.0
#include "controller/disruption/disruption_cost.h"

#include <fmt/format.h>

#include <algorithm>

#include "controller/disruption/drain.h"
#include "controller/disruption/pod_groups.h"
#include "controller/fleet/node_facts.h"

namespace berth {
namespace {

// A batch Job is a gang of its parallelism.
std::int64_t job_size(const Snapshot& snapshot, const Pod& pod) {
  const Job* job =
      snapshot.cluster.jobs().find(pod.meta.namespace_.view(), pod.meta.controller()->name.view());
  return job != nullptr ? std::max(job->parallelism, 1) : 1;
}

std::int64_t gang_size(const Snapshot& snapshot, const Occupant& occupant) {
  if (occupant.group_kind == Occupant::Group::kJob) return job_size(snapshot, *occupant.pod);
  return std::max<std::int64_t>(
      snapshot.cluster.view<PodGroups>().size_of(occupant.namespace_.view(), occupant.group.view()),
      1);
}

// The gangs found on a node, because each ends only once.
class Gangs {
 public:
  bool is_new(const Occupant& occupant) {
    const auto same = [&](const Occupant* met) {
      return met->group == occupant.group && met->group_kind == occupant.group_kind &&
             met->namespace_ == occupant.namespace_;
    };
    if (std::ranges::any_of(met_, same)) return false;
    met_.push_back(&occupant);
    return true;
  }

 private:
  std::vector<const Occupant*> met_;
};

}  // namespace

std::string describe(const Disruption& d) {
  if (!d.pods) return "no pod has to leave";
  return fmt::format("{} pod{} end{}, of priority {} at most, {} of GPU work since checkpoints",
                     d.ended, d.ended == 1 ? "" : "s", d.ended == 1 ? "s" : "", d.priority,
                     format_duration_short(std::chrono::seconds(d.lost_gpu_seconds)));
}

Disruption DisruptionCost::of(const std::vector<Occupant>& occupants,
                              const DrainSpec& drain) const {
  const std::int64_t now_s =
      std::chrono::floor<std::chrono::seconds>(snapshot_.now).time_since_epoch().count();
  Disruption cost;
  Gangs gangs;
  for (const Occupant& occupant : occupants) {
    if (!must_leave(occupant, drain.scope, snapshot_.settings)) continue;
    cost.priority =
        cost.pods ? std::max<std::int64_t>(cost.priority, occupant.priority) : occupant.priority;
    cost.pods = true;
    if (occupant.group_kind == Occupant::Group::kNone)
      ++cost.ended;
    else if (gangs.is_new(occupant))
      cost.ended += gang_size(snapshot_, occupant);
    if (occupant.work_from_s < now_s)
      cost.lost_gpu_seconds += (now_s - occupant.work_from_s) * occupant.gpus;
  }
  return cost;
}

std::int64_t DisruptionCost::homeless(const Node& node, const std::vector<Occupant>& occupants,
                                      const DrainSpec& drain) {
  if (!measured_) measure_room();
  std::int64_t homeless = 0;
  for (const Occupant& occupant : occupants) {
    if (!must_leave(occupant, drain.scope, snapshot_.settings)) continue;
    each_demand(occupant, [&](const Text& resource, std::int64_t count) {
      if (!fits_elsewhere(resource, count, node)) ++homeless;
    });
  }
  return homeless;
}

// An estimate, for ordering only: whether one other node has this much free.
bool DisruptionCost::fits_elsewhere(const Text& resource, std::int64_t count,
                                    const Node& node) const {
  const auto room = std::ranges::find(rooms_, resource, &Room::resource);
  if (room == rooms_.end()) return false;
  return (room->node == &node ? room->second : room->most) >= count;
}

void DisruptionCost::measure_room() {
  measured_ = true;
  std::vector<std::pair<Text, std::int64_t>> free;  // of one node, so only a few
  for (const auto& node : snapshot_.cluster.nodes()) {
    if (!in_service(*node)) continue;
    free.clear();
    for (const auto& [resource, quantity] : gpus_in(node->allocatable))
      free.emplace_back(resource, quantity.as_whole().value_or(0));
    if (free.empty()) continue;
    for (const Occupant& occupant : snapshot_.cluster.occupants_of(node->meta.name))
      each_demand(occupant, [&](const Text& resource, std::int64_t count) {
        for (auto& [offered, left] : free)
          if (offered == resource) left -= count;
      });
    for (const auto& [resource, left] : free) {
      auto room = std::ranges::find(rooms_, resource, &Room::resource);
      if (room == rooms_.end()) room = rooms_.insert(rooms_.end(), {resource});
      if (left > room->most)
        *room = {resource, node.get(), left, room->most};
      else
        room->second = std::max(room->second, left);
    }
  }
}

}  // namespace berth
