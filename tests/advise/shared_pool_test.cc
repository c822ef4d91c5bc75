// SPDX-License-Identifier: Apache-2.0
// Which shared pool suffices for an owner with low utilization.
#include "controller/advise/shared_pool.h"

#include <gtest/gtest.h>

namespace berth::advise {
namespace {

PoolSpec shared_by(const std::string& name, std::int32_t replicas) {
  PoolSpec pool;
  pool.name = name;
  pool.sharing = {.strategy = SharingStrategy::kTimeSlicing, .replicas = replicas};
  return pool;
}

class SharedPool : public ::testing::Test {
 protected:
  SharedPool() {
    Namespace lab;
    lab.meta.name = "lab";
    lab.meta.labels.set("team", "lab");
    cluster_.upsert(std::move(lab), {});
  }
  std::string smallest(std::int64_t percent, const std::string& namespace_ = "lab") const {
    const Snapshot snapshot{.cluster = cluster_, .answers = answers_, .settings = settings_};
    const PoolSpec* pool = smallest_shared_pool(snapshot, policy_, namespace_, percent);
    return pool == nullptr ? "none" : pool->name;
  }

  ClusterState cluster_;
  Answers answers_;
  Settings settings_;
  GPUClusterPolicy policy_;
};

TEST_F(SharedPool, IsTheOneOfMostPartsThatAreLargeEnough) {
  policy_.spec.pools = {shared_by("two", 2), shared_by("four", 4), shared_by("also-four", 4),
                        shared_by("eight", 8)};
  EXPECT_EQ(smallest(12), "eight");
  EXPECT_EQ(smallest(13), "four") << "of equal ones the first";
  EXPECT_EQ(smallest(25), "four") << "the whole part";
  EXPECT_EQ(smallest(26), "two");
  EXPECT_EQ(smallest(50), "two");
  EXPECT_EQ(smallest(51), "none");
}

TEST_F(SharedPool, SharesWholeGpusAmongSeveral) {
  PoolSpec not_shared = shared_by("apart", 4);
  not_shared.sharing.strategy = SharingStrategy::kNone;
  PoolSpec instances = shared_by("instances", 4);
  instances.sharing.resources = {"nvidia.com/mig-1g.10gb"};
  policy_.spec.pools = {not_shared, instances, shared_by("alone", 1)};
  EXPECT_EQ(smallest(1), "none");
  policy_.spec.pools[1].sharing.resources.push_back("nvidia.com/gpu");
  EXPECT_EQ(smallest(1), "instances");
}

TEST_F(SharedPool, IsOpenToTheNamespace) {
  policy_.spec.pools = {shared_by("closed", 8), shared_by("open", 4)};
  policy_.spec.pools[0].eligible_namespaces.emplace().match_labels["team"] = "lab";
  EXPECT_EQ(smallest(10), "closed");
  EXPECT_EQ(smallest(10, "gone"), "open") << "of a namespace that is not known nothing is known";
  policy_.spec.pools[0].eligible_namespaces->match_labels["team"] = "another";
  EXPECT_EQ(smallest(10), "open");
}

}  // namespace
}  // namespace berth::advise
