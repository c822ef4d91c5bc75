// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/order.h"

#include <fmt/format.h>

#include <algorithm>

#include "controller/mig/drain.h"
#include "controller/mig/node_facts.h"

namespace berth {
namespace {

// A batch Job is a gang by its parallelism.
std::int64_t job_size(const Snapshot& snapshot, const Pod& pod) {
  const Job* job =
      snapshot.cluster.jobs().find(pod.meta.namespace_.view(), pod.meta.controller()->name.view());
  return job != nullptr ? std::max(job->parallelism, 1) : 1;
}

std::int64_t gang_size(const Snapshot& snapshot, const Tenant& tenant) {
  if (tenant.group_kind == Tenant::Group::kJob) return job_size(snapshot, *tenant.pod);
  return std::max<std::int64_t>(
      snapshot.cluster.pod_group_size(tenant.namespace_.view(), tenant.group.view()), 1);
}

// The gangs that were met on a node: each ends once.
class Gangs {
 public:
  bool is_new(const Tenant& tenant) {
    const auto same = [&](const Tenant* met) {
      return met->group == tenant.group && met->group_kind == tenant.group_kind &&
             met->namespace_ == tenant.namespace_;
    };
    if (std::ranges::any_of(met_, same)) return false;
    met_.push_back(&tenant);
    return true;
  }

 private:
  std::vector<const Tenant*> met_;
};

}  // namespace

std::string describe(const Disruption& d) {
  if (!d.pods) return "no pod has to leave";
  return fmt::format("{} pod{} end{}, of priority {} at most, {} of GPU work since checkpoints",
                     d.ended, d.ended == 1 ? "" : "s", d.ended == 1 ? "s" : "", d.priority,
                     format_duration_short(std::chrono::seconds(d.lost_gpu_seconds)));
}

Disruption DisruptionCost::of(const std::vector<Tenant>& tenants, const DrainSpec& drain) const {
  const std::int64_t now_s =
      std::chrono::floor<std::chrono::seconds>(snapshot_.now).time_since_epoch().count();
  Disruption cost;
  Gangs gangs;
  for (const Tenant& tenant : tenants) {
    if (!must_leave(tenant, drain.scope, snapshot_.settings)) continue;
    cost.priority =
        cost.pods ? std::max<std::int64_t>(cost.priority, tenant.priority) : tenant.priority;
    cost.pods = true;
    if (tenant.group_kind == Tenant::Group::kNone)
      ++cost.ended;
    else if (gangs.is_new(tenant))
      cost.ended += gang_size(snapshot_, tenant);
    if (tenant.work_from_s < now_s)
      cost.lost_gpu_seconds += (now_s - tenant.work_from_s) * tenant.gpus;
  }
  return cost;
}

std::int64_t DisruptionCost::homeless(const Node& node, const std::vector<Tenant>& tenants,
                                      const DrainSpec& drain) {
  if (!measured_) measure_room();
  std::int64_t homeless = 0;
  for (const Tenant& tenant : tenants) {
    if (!must_leave(tenant, drain.scope, snapshot_.settings)) continue;
    each_demand(tenant, [&](const Text& resource, std::int64_t count) {
      if (!fits_elsewhere(resource, count, node)) ++homeless;
    });
  }
  return homeless;
}

// An estimate for ordering only: whether one other node has as much free.
bool DisruptionCost::fits_elsewhere(const Text& resource, std::int64_t count,
                                    const Node& node) const {
  const auto room = std::ranges::find(rooms_, resource, &Room::resource);
  if (room == rooms_.end()) return false;
  return (room->node == &node ? room->second : room->most) >= count;
}

void DisruptionCost::measure_room() {
  measured_ = true;
  std::vector<std::pair<Text, std::int64_t>> free;  // of one node: a handful
  for (const auto& node : snapshot_.cluster.nodes()) {
    if (!in_service(*node)) continue;
    free.clear();
    for (const auto& [resource, quantity] : node->allocatable)
      if (!quantity.is_zero() && is_gpu_resource(resource.view()))
        free.emplace_back(resource, quantity.as_whole().value_or(0));
    if (free.empty()) continue;
    for (const Tenant& tenant : snapshot_.cluster.tenants_of(node->meta.name))
      each_demand(tenant, [&](const Text& resource, std::int64_t count) {
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
