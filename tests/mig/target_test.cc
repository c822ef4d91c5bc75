// SPDX-License-Identifier: Apache-2.0
// The resources of a layout on one node, and whether the node offers it.
#include "controller/mig/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

using ::testing::HasSubstr;

struct TargetTest : ::testing::Test {
  const Target& resolve(const Node& node) { return resolver().resolve(node); }
  TargetResolver& resolver() {
    if (made == nullptr) made = std::make_unique<TargetResolver>(cluster, small);
    return *made;
  }
  ClusterState cluster;
  MIGLayout small = layout("small");
  std::unique_ptr<TargetResolver> made;
};

TEST_F(TargetTest, NamesTheProductTheStrategyAndTheConfig) {
  const Target& target = resolve(node("n1").a100_80(4));
  EXPECT_TRUE(target.ok());
  EXPECT_EQ(target.product, "NVIDIA-A100-SXM4-80GB");
  EXPECT_EQ(target.strategy, MigStrategy::kMixed);
  EXPECT_THAT(target.config, testing::StartsWith("berth-small-"));
  EXPECT_EQ(resolve(node("n2").a100_80(4).label(names::kMigStrategy, "single")).strategy,
            MigStrategy::kSingle);
  for (int gpus = 1; gpus <= 16; ++gpus)
    EXPECT_EQ(resolve(node("n").a100_80(gpus)).layout.per_gpu.size(),
              static_cast<std::size_t>(gpus))
        << "each kind its own";
}

TEST_F(TargetTest, WhereTheNodeIsNotUnderstoodItSaysWhatToWrite) {
  Node bare = node("n1").a100_80(4);
  bare.meta.labels.erase(names::kMigStrategy);
  EXPECT_EQ(resolve(bare).cause.reason, reasons::kInvalidLayout);
  EXPECT_THAT(resolve(bare).cause.message,
              testing::StartsWith("neither label nvidia.com/mig.strategy"));
  EXPECT_THAT(resolve(node("n2").a100_80(4).label(names::kMigStrategy, "odd")).cause.message,
              testing::StartsWith("label nvidia.com/mig.strategy=odd must be none, single or"));
  EXPECT_EQ(resolve(node("n3")).cause.reason, reasons::kInventoryUnknown);
  EXPECT_EQ(resolve(node("n4").a100_80(4).label(names::kGpuProduct, "Tesla-K80")).cause.reason,
            reasons::kUnknownProduct);
}

TEST_F(TargetTest, MigIsOffOnlyWhereADeletedLayoutAsksForThat) {
  EXPECT_FALSE(disables_mig(small));
  small.spec.deletion_policy = DeletionPolicy::kDisableMIG;
  EXPECT_FALSE(disables_mig(small));
  small.meta.deletion_timestamp = Time{};
  EXPECT_TRUE(disables_mig(small));
  EXPECT_EQ(resolve(node("n1").a100_80(4)).config, "all-disabled");
  small.spec.deletion_policy = DeletionPolicy::kRetain;
  EXPECT_FALSE(disables_mig(small));
}

TEST_F(TargetTest, OfSharedInstancesTheReplicasAreExpected) {
  const auto cut = [](int instances) {
    return node("n1")
        .a100_80(4)
        .allocatable("nvidia.com/gpu", 0)
        .allocatable("nvidia.com/mig-1g.10gb", instances);
  };
  const auto shared = [&](int instances) {
    return cut(instances)
        .label("nvidia.com/mig-1g.10gb.sharing-strategy", "time-slicing")
        .label("nvidia.com/mig-1g.10gb.replicas", "2")
        .label("nvidia.com/mig-1g.10gb.product", "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb-SHARED");
  };
  const Target& target = resolve(cut(28));
  EXPECT_EQ(resolver().mismatch(target, cut(28)), std::nullopt);
  EXPECT_THAT(resolver().mismatch(target, cut(27)).value_or(""),
              HasSubstr("nvidia.com/mig-1g.10gb is 27, expected 28"));
  EXPECT_EQ(resolver().mismatch(target, shared(56)), std::nullopt);
  EXPECT_THAT(resolver().mismatch(target, shared(28)).value_or(""), HasSubstr("expected 56"));
}

}  // namespace
}  // namespace berth::test
