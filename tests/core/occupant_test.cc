// SPDX-License-Identifier: Apache-2.0
// Which requests of a pod count while it is on a node.
#include "controller/core/occupant.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"

namespace berth {
namespace {

using testing::ElementsAre;
using testing::Pair;

Pod occupying_pod(std::map<std::string, std::int64_t> requests) {
  Pod made;
  made.meta.namespace_ = "team-a";
  made.meta.name = made.meta.uid = "p";
  made.node_name = "n1";
  for (const auto& [resource, count] : requests)
    made.shape.edit()->requests.set(resource, Quantity::whole(count));
  return made;
}

Pod owned_pod(const std::string& kind) {
  Pod made = occupying_pod({{"nvidia.com/gpu", 1}});
  made.meta.owner_references.push_back(
      {.kind = kind, .name = "owner", .uid = "owner-uid", .controller = true});
  return made;
}

std::vector<std::pair<std::string, std::int64_t>> demands_of(const Occupant& occupant) {
  std::vector<std::pair<std::string, std::int64_t>> out;
  each_demand(occupant, [&](const Text& resource, std::int64_t count) {
    out.emplace_back(resource.str(), count);
  });
  return out;
}

TEST(Occupant, HoldsWhatItAsksForOfNvidiasAlone) {
  const Pod none = occupying_pod({{"cpu", 4}});
  EXPECT_FALSE(occupant_of(none).uses_gpu);
  EXPECT_TRUE(demands_of(occupant_of(none)).empty());
  EXPECT_EQ(occupant_of(none).gpus, 1) << "at least";

  const Pod one = occupying_pod({{"cpu", 4}, {"memory", 5}, {"nvidia.com/gpu", 2}});
  EXPECT_TRUE(occupant_of(one).uses_gpu);
  EXPECT_EQ(occupant_of(one).gpus, 2);
  EXPECT_FALSE(occupant_of(one).asks_more);
  EXPECT_THAT(demands_of(occupant_of(one)), ElementsAre(Pair("nvidia.com/gpu", 2)));

  const Pod two = occupying_pod({{"cpu", 4}, {"nvidia.com/gpu", 2}, {"nvidia.com/mig-1g.10gb", 3}});
  EXPECT_EQ(occupant_of(two).gpus, 5);
  EXPECT_TRUE(occupant_of(two).asks_more);
  EXPECT_THAT(demands_of(occupant_of(two)),
              ElementsAre(Pair("nvidia.com/gpu", 2), Pair("nvidia.com/mig-1g.10gb", 3)));
}

TEST(Occupant, BelongsToTheNodeIfADaemonSetOrTheKubeletMadeIt) {
  EXPECT_FALSE(occupant_of(occupying_pod({})).stays);
  EXPECT_TRUE(occupant_of(owned_pod("DaemonSet")).stays);
  EXPECT_FALSE(occupant_of(owned_pod("ReplicaSet")).stays);
  Pod mirror = occupying_pod({});
  mirror.meta.annotations.set(names::kMirrorAnnotation, "hash");
  EXPECT_TRUE(occupant_of(mirror).stays);
}

TEST(Occupant, EndsWithItsGroupOrItsJob) {
  EXPECT_EQ(occupant_of(owned_pod("ReplicaSet")).group_kind, Occupant::Group::kNone);
  const Occupant of_job = occupant_of(owned_pod("Job"));
  EXPECT_EQ(of_job.group_kind, Occupant::Group::kJob);
  EXPECT_EQ(of_job.group, "owner-uid");

  Pod apart = owned_pod("Job");
  apart.meta.annotations.set("gpu.berth.dev/gang", "false");
  EXPECT_EQ(occupant_of(apart).group_kind, Occupant::Group::kNone) << "its pods work by themselves";

  Pod grouped = owned_pod("Job");
  grouped.meta.labels.set(names::kPodGroupLabel, "ring");
  EXPECT_EQ(occupant_of(grouped).group_kind, Occupant::Group::kPodGroup);
  EXPECT_EQ(occupant_of(grouped).group, "ring");
}

TEST(Occupant, ItsWorkBeganWithItOrWithItsLastCheckpoint) {
  const auto began = [](std::optional<Time> started, const char* checkpoint) {
    Pod made = occupying_pod({{"nvidia.com/gpu", 1}});
    made.start_time = started;
    if (checkpoint != nullptr)
      made.meta.annotations.set(names::kLastCheckpointAnnotation, checkpoint);
    return occupant_of(made).work_from_s;
  };
  const Time at(std::chrono::milliseconds(100'900));
  EXPECT_EQ(began({}, nullptr), Occupant::kNoWork);
  EXPECT_EQ(began(at, nullptr), 100) << "whole seconds";
  EXPECT_EQ(began(at, "1970-01-01T00:05:00Z"), 300);
  EXPECT_EQ(began(at, "1970-01-01T00:01:00Z"), 100) << "of a run before this one";
  EXPECT_EQ(began({}, "1970-01-01T00:01:00Z"), 60);
  EXPECT_EQ(began(at, "soon"), 100);
}

}  // namespace
}  // namespace berth
