// SPDX-License-Identifier: Apache-2.0
#include "tests/mig/rollout_invariants.h"

#include <fmt/format.h>

#include "apis/names.h"
#include "controller/mig/drain.h"
#include "controller/mig/node_facts.h"
#include "controller/mig/overlap.h"
#include "controller/mig/preflight.h"
#include "controller/mig/rollout_annotation.h"
#include "controller/mig/situation.h"

namespace berth::test {
namespace {

// What the nodes in service offer, by resource.
std::map<std::string, std::int64_t> capacity_in_service(const ClusterState& cluster) {
  std::map<std::string, std::int64_t> sum;
  for (const auto& node : cluster.nodes())
    if (in_service(*node))
      for (const auto& [resource, quantity] : node->allocatable)
        sum[resource.str()] += quantity.as_whole().value_or(0);
  return sum;
}

}  // namespace

RolloutInvariants::Before RolloutInvariants::look_before(const MemoryCluster& world,
                                                         const Write& write) {
  Before before{.capacity = capacity_in_service(world.cluster), .node = {}};
  if (write.object.kind == "Node" && write.verb == Verb::kJsonPatch)
    before.node = world.node(write.object.name);
  return before;
}

void RolloutInvariants::check_write(MemoryCluster& world, const Before& before,
                                    const Write& write) {
  if (before.node) check_node_write(world, *before.node, world.node(write.object.name), write);
  check_capacity(world, before, write);
  check_budget(world);
}

void RolloutInvariants::check_removal(MemoryCluster& world, const ObjectRef& ref) {
  const Pod* pod = world.cluster.pods().find(ref.namespace_, ref.name);
  if (pod == nullptr || pod->terminating()) return;
  const Node* on = world.cluster.nodes().find(pod->node_name.view());
  if (on == nullptr) return;
  const Snapshot snapshot = world.snapshot();
  LayoutView layouts(snapshot);
  if (situation_of(snapshot, layouts, *on).is_right())
    world.breach("invariant 5: evicted from a node whose layout is right: " + ref.str());
  if (!on->cordoned()) world.breach("invariant: evicted from a node in service: " + ref.str());
}

void RolloutInvariants::check_node_write(MemoryCluster& world, const Node& before,
                                         const Node& after, const Write& write) {
  const std::string& name = after.meta.name;
  const RolloutRecord was = read_rollout(before);
  const RolloutRecord is = read_rollout(after);
  if (!is.rollout) return world.breach("berth wrote an annotation it can't read: " + write.body);
  if (persons_cordons_.contains(name) && !after.cordoned())
    world.breach("invariant 3: berth uncordoned what a person had cordoned: " + name);
  if (before.cordoned() && !after.cordoned() && !(was.rollout && was.rollout->berth_cordoned))
    world.breach("invariant 3: berth uncordoned what it had not cordoned: " + name);
  if (label_of(before, names::kMigConfig) == label_of(after, names::kMigConfig)) return;

  const auto held_for = world.now - was.rollout->since;
  if (!before.cordoned()) world.breach("invariant 1: relabelled a node in service: " + name);
  if (was.rollout->phase == RolloutPhase::kCordoned && held_for < world.settings.settle)
    world.breach("invariant 1: relabelled before bindings in flight had settled: " + name);
  for (const Pod* pod : world.cluster.pods_on(name))
    if (must_leave(*pod, DrainSpec{}, world.settings))
      world.breach("invariant 1: relabelled under " + pod->meta.name);
  if (after.meta.labels.contains(names::kMigConfigState))
    world.breach("invariant 1: the old state was left: " + name);
  if (!config_is_rendered(world.snapshot(), label_of(after, names::kMigConfig)))
    world.breach("invariant 1: relabelled to what the agents' file lacks: " + name);
  const bool uncounted = write.reason.find("may not have known") != write.reason.npos;
  if (!uncounted &&
      !relabels_.insert({name, is.rollout->config, is.rollout->attempt, is.rollout->seq}).second)
    world.breach("invariant 7: relabelled twice in one attempt: " + name);
}

void RolloutInvariants::check_capacity(MemoryCluster& world, const Before& before,
                                       const Write& write) {
  const auto after = capacity_in_service(world.cluster);
  for (const auto& layout : world.cluster.mig_layouts())
    for (const auto& [resource, minimum] : layout->spec.capacity_guard.min_available) {
      auto old = before.capacity.find(resource);
      auto now_there = after.find(resource);
      const std::int64_t was = old == before.capacity.end() ? 0 : old->second;
      const std::int64_t is = now_there == after.end() ? 0 : now_there->second;
      if (is < was && is < minimum)
        world.breach("invariant 4: " + resource + " by " + write.reason);
    }
}

void RolloutInvariants::check_budget(MemoryCluster& world) {
  for (const auto& layout : world.cluster.mig_layouts()) {
    std::int64_t selected = 0;
    std::int64_t out = 0;
    for (const auto& node : world.cluster.nodes()) {
      if (!selects(*layout, *node)) continue;
      ++selected;
      const RolloutRecord record = read_rollout(*node);
      out += !record.idle() && record.rollout->berth_cordoned &&
             record.rollout->layout_uid == layout->meta.uid;
    }
    if (out > layout->spec.rollout.max_unavailable.of(selected))
      world.breach(fmt::format("invariant 2: {} nodes out by {}", out, layout->meta.name));
  }
}

}  // namespace berth::test
