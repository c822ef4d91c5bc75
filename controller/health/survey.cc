// SPDX-License-Identifier: Apache-2.0
#include "controller/health/survey.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/reasons.h"
#include "controller/core/plural.h"
#include "controller/fleet/node_facts.h"
#include "controller/fleet/pools.h"

namespace berth {
namespace {

bool is_out_for_it(const NodeHealth& health) {
  return health.record && health.record->phase == HealthPhase::kCordoned;
}

// Walks over all nodes, so it runs only if there is a finding or a record.
void count_pools(const Snapshot& snapshot, const GPUClusterPolicy& policy, HealthSurvey& survey) {
  for (const auto& node : snapshot.cluster.nodes())
    if (has_gpus(*node))
      if (const PoolSpec* pool = pool_of(policy, *node)) ++survey.pools[pool].nodes;
  for (auto& [_, pool] : survey.pools)
    pool.limit = policy.spec.health.max_unhealthy_fraction.of(pool.nodes);
  for (const NodeHealth& health : survey.nodes)
    if (health.faulty()) ++survey.pools[health.pool].faulty;
}

// Drops the findings that the node's own exporter contradicts: they neither keep a node out of
// service nor count as accepted by a user. Findings that berth could not check there may be true.
void drop_contradicted(NodeHealth& health) {
  const bool decided = health.record && (health.record->phase == HealthPhase::kCordoned ||
                                         health.record->phase == HealthPhase::kOverruled);
  if (!decided) return;
  std::erase_if(health.found.all,
                [](const GpuFault& fault) { return fault.doubt == GpuFault::Doubt::kDisagrees; });
}

}  // namespace

bool NodeHealth::faulty() const { return found.act() || is_out_for_it(*this); }

std::optional<Cause> HealthSurvey::refuse(const PoolSpec& pool) const {
  const auto found = pools.find(&pool);
  if (found == pools.end() || !found->second.too_many()) return std::nullopt;
  return Cause{
      reasons::kTooManyUnhealthy,
      fmt::format("{} of the {} nodes of pool {} look broken, and "
                  "spec.health.maxUnhealthyFraction is {} of them: no further one is "
                  "taken out of service; see whether what measures them is broken",
                  found->second.faulty, found->second.nodes, pool.name, found->second.limit)};
}

std::optional<Cause> HealthSurvey::told() const {
  std::optional<Cause> first;
  for (const NodeHealth& health : nodes)
    if (!first) first = refuse(*health.pool);
  return first;
}

std::optional<Cause> HealthSurvey::not_confirmed() const {
  if (doubted.empty()) return std::nullopt;
  const auto& [node, fault] = doubted.front();
  const auto others = static_cast<std::int64_t>(doubted.size()) - 1;
  return Cause{fault.doubt == GpuFault::Doubt::kSilent ? reasons::kExporterSilent
                                                       : reasons::kExporterDisagrees,
               fmt::format("only reported, of node {}: {}{}", node, fault.text,
                           others > 0 ? "; and of " + plural(others, "other node") : "")};
}

std::int32_t HealthSurvey::unhealthy() const {
  return static_cast<std::int32_t>(std::ranges::count_if(nodes, [](const NodeHealth& health) {
    return !health.found.all.empty() || is_out_for_it(health);
  }));
}

HealthSurvey survey_health(const Snapshot& snapshot, const GPUClusterPolicy& policy) {
  HealthSurvey survey;
  for (const auto& node : snapshot.cluster.nodes()) {
    if (!has_gpus(*node)) continue;
    NodeHealth health{.node = node.get(),
                      .record = health_of(*node),
                      .found = find_trouble(snapshot, *node, policy.spec.health)};
    if (health.found.next_in)
      survey.next_in =
          std::min(survey.next_in.value_or(*health.found.next_in), *health.found.next_in);
    if (health.found.all.empty() && !health.record) continue;
    health.pool = pool_of(policy, *node);
    if (const GpuFault* doubted = health.found.doubted(); doubted != nullptr && health.pool)
      survey.doubted.emplace_back(node->meta.name, *doubted);
    drop_contradicted(health);
    if (health.pool != nullptr) survey.nodes.push_back(std::move(health));
  }
  if (!survey.nodes.empty()) count_pools(snapshot, policy, survey);
  return survey;
}

}  // namespace berth
