// SPDX-License-Identifier: Apache-2.0
// Which GPUs a namespace may have exclusively: those of an open pool, unshared, and not closed by
// an entry of the catalog.
#include "controller/admission/pool_choice.h"

#include <gtest/gtest.h>

#include "controller/fleet/pools.h"
#include "tests/admission/review_case.h"

namespace berth::test {
namespace {

constexpr char kGpu[] = "nvidia.com/gpu";
const StringMap kNobody, kTrusted{{"team-risk", "trusted"}}, kGold{{"tier", "gold"}};

class MayHaveAlone : public ::testing::Test {
 protected:
  PoolSpec& pool(std::size_t index) { return policy_.spec.pools.at(index); }

  GPUClusterPolicy policy_ = *find_policy(make_cluster());
};

TEST_F(MayHaveAlone, WhoeverThePoolIsOpenTo) {
  EXPECT_TRUE(may_have_alone(policy_, &pool(0), kGpu, kNobody));
  pool(0).eligible_namespaces = LabelSelector{.match_labels = kTrusted};
  EXPECT_FALSE(may_have_alone(policy_, &pool(0), kGpu, kNobody));
  EXPECT_TRUE(may_have_alone(policy_, &pool(0), kGpu, kTrusted));
}

TEST_F(MayHaveAlone, NobodyWhereItIsShared) {
  EXPECT_FALSE(may_have_alone(policy_, &pool(2), "nvidia.com/gpu.shared", kTrusted));
  pool(0).sharing = {.strategy = SharingStrategy::kMPS, .replicas = 4};
  EXPECT_FALSE(may_have_alone(policy_, &pool(0), kGpu, kNobody));
}

TEST_F(MayHaveAlone, WhoeverAsksForWhatAPoolDoesNotListAsShared) {
  pool(1).sharing = {.strategy = SharingStrategy::kTimeSlicing,
                     .replicas = 4,
                     .resources = {"nvidia.com/mig-1g.10gb"}};
  EXPECT_FALSE(may_have_alone(policy_, &pool(1), "nvidia.com/mig-1g.10gb", kNobody));
  EXPECT_TRUE(may_have_alone(policy_, &pool(1), kGpu, kNobody));
}

TEST_F(MayHaveAlone, WhoeverTheCatalogOpensItTo) {
  constexpr char kLarge[] = "nvidia.com/mig-3g.40gb";
  EXPECT_FALSE(may_have_alone(policy_, &pool(1), kLarge, kNobody));
  EXPECT_TRUE(may_have_alone(policy_, &pool(1), kLarge, kGold));
  policy_.spec.resource_catalog.push_back({.name = "again", .resource = kLarge});
  EXPECT_TRUE(may_have_alone(policy_, &pool(1), kLarge, kNobody)) << "one entry that opens it";
}

TEST_F(MayHaveAlone, OnNodesOfNoPoolTheCatalogAloneSays) {
  EXPECT_TRUE(may_have_alone(policy_, nullptr, kGpu, kNobody));
  EXPECT_FALSE(may_have_alone(policy_, nullptr, "nvidia.com/mig-3g.40gb", kNobody));
}

}  // namespace
}  // namespace berth::test
