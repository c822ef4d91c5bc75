// SPDX-License-Identifier: Apache-2.0
#include "tests/mig/played_pods.h"

#include <fmt/format.h>

#include <algorithm>

#include "controller/mig/node_facts.h"

namespace berth::test {
namespace {

using std::chrono::seconds;

bool fits(const ClusterState& cluster, const Pod& waiting, const Node& node) {
  return std::ranges::all_of(waiting.requests, [&](const auto& request) {
    Quantity free = node.allocatable.get(request.first.view());
    for (const Pod* pod : cluster.pods_on(node.meta.name))
      free -= pod->requests.get(request.first.view());
    return free >= request.second;
  });
}

// One at a time, since the store changes under the loop. False if no pod waits that fits anywhere.
bool bind_one(MemoryCluster& world) {
  for (const auto& waiting : world.cluster.pods()) {
    if (!waiting->node_name.empty()) continue;
    for (const auto& node : world.cluster.nodes()) {
      if (!in_service(*node) || !fits(world.cluster, *waiting, *node)) continue;
      Pod bound = *waiting;
      bound.node_name = node->meta.name;
      bound.phase = PodPhase::kRunning;
      world.put(std::move(bound));
      return true;
    }
  }
  return false;
}

}  // namespace

void PlayedPods::remove_gracefully(MemoryCluster& world, const ObjectRef& ref) {
  const Pod* found = world.cluster.pods().find(ref.namespace_, ref.name);
  if (found == nullptr || found->terminating()) return;
  Pod next = *found;
  next.meta.deletion_timestamp = world.now + seconds(2);
  dying_[ref.namespace_ + "/" + ref.name] = world.now + seconds(2);
  world.put(std::move(next));
}

bool PlayedPods::run(MemoryCluster& world) {
  bool ended = false;
  for (const auto& [key, at] : std::map<std::string, Time>(dying_)) {
    if (at > world.now) continue;
    ended = true;
    dying_.erase(key);
    const std::size_t slash = key.find('/');
    auto gone = world.cluster.erase<Pod>(key.substr(0, slash), key.substr(slash + 1));
    if (gone && gone->meta.controller() != nullptr) replace(world, *gone);
  }
  return bind_one(world) || ended;
}

void PlayedPods::replace(MemoryCluster& world, const Pod& gone) {
  if (gone.meta.controller()->kind == "Job") {
    Job job = *world.cluster.jobs().find(gone.meta.namespace_.view(),
                                         gone.meta.controller()->name.view());
    if (!job.ignores_disruptions) ++job.failed;
    if (job.failed > job.backoff_limit)
      world.breach("a Job failed through berth: " + job.meta.name);
    world.put(std::move(job));
  }
  Pod next = gone;
  next.meta.name =
      fmt::format("{}-{}", gone.meta.name.substr(0, gone.meta.name.find('-')), ++spawned_);
  next.meta.uid = "uid-" + next.meta.name;
  next.meta.deletion_timestamp.reset();
  next.node_name = Text();
  next.phase = PodPhase::kPending;
  world.put(std::move(next));
}

std::optional<Time> PlayedPods::next_due() const {
  std::optional<Time> due;
  for (const auto& [key, at] : dying_)
    if (!due || at < *due) due = at;
  return due;
}

}  // namespace berth::test
