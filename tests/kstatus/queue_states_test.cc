// SPDX-License-Identifier: Apache-2.0
// GPUQueues in each state of docs/reasons.md.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/kstatus/state_files.h"

namespace berth::test {
namespace {

GPUQueue queue_named(const char* name) {
  GPUQueue queue;
  queue.meta.name = queue.meta.uid = name;
  queue.spec.cohort_name = "research";
  queue.spec.quotas.push_back({"nvidia.com/gpu", "*", 8, {}, {}});
  return queue;
}

const State kQueues[] = {
    {"active", [](PlannedCluster& world) { world.add(queue_named("team")); }, "QueueActive", "",
     "Current", "Healthy"},
    {"held",
     [](PlannedCluster& world) {
       GPUQueue queue = queue_named("team");
       queue.spec.stop_policy = StopPolicy::kHold;
       world.add(queue);
     },
     "QueueHeld", "", "InProgress", "Suspended"},
    {"invalid",
     [](PlannedCluster& world) {
       GPUQueue queue = queue_named("team");
       queue.spec.quotas.front().lending_limit = 9;
       world.add(queue);
     },
     "QueueInvalid", "Stalled QueueInvalid", "Failed", "Degraded"},
    {"mixed-units",
     [](PlannedCluster& world) {
       GPUQueue older = queue_named("older"), queue = queue_named("team");
       older.spec.quotas.front().resource = "gpu";
       queue.meta.creation_timestamp += std::chrono::seconds(1);
       world.add(older).add(queue);
     },
     "MixedQuotaUnits", "Stalled MixedQuotaUnits", "Failed", "Degraded"},
};

TEST(States, OfAQueue) {
  for (const State& state : kQueues) {
    SCOPED_TRACE(state.name);
    PlannedCluster world;
    state.make(world);
    const GPUQueue& queue = *world.cluster.gpu_queues().find("team");
    const std::vector<StatusUpdate> statuses = world.plan("queues").statuses;
    const auto told = std::ranges::find(statuses, ref_of(queue), &StatusUpdate::object);
    ASSERT_NE(told, statuses.end());
    expect_state(state,
                 object_of(queue, told->body, {{"stopPolicy", to_string(queue.spec.stop_policy)}}));
  }
}

}  // namespace
}  // namespace berth::test
