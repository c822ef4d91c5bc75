// SPDX-License-Identifier: Apache-2.0
// The memory behind a node's resources, by the node's labels.
#include "controller/advise/memory_on_node.h"

#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace berth::advise {
namespace {

constexpr std::int64_t kOneGiB = std::int64_t{1} << 30;

std::int64_t gib_on(const Node& node, const char* resource, std::int64_t count = 1) {
  const auto usable = usable_on(node, resource, count);
  return usable ? *usable / kOneGiB : -1;
}

TEST(MemoryOnNode, IsOfWholeGpusTheirSum) {
  const Node node = test::node("n1").a100_80(4);
  EXPECT_EQ(gib_on(node, "nvidia.com/gpu"), 72);
  EXPECT_EQ(gib_on(node, "nvidia.com/gpu", 4), 288);
  EXPECT_EQ(gib_on(node, "nvidia.com/gpu", -1), 0);
  EXPECT_GT(gib_on(node, "nvidia.com/gpu", INT64_MAX), 0) << "a count of anybody's choice";
  EXPECT_EQ(gib_on(node, "nvidia.com/nic"), -1);
  EXPECT_EQ(gib_on(test::node("bare"), "nvidia.com/gpu"), -1);
}

TEST(MemoryOnNode, OfAProductThatBerthDoesNotKnowIsWhatItsLabelSays) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24;  // MiB
  Inventory gpus{"NVIDIA-L4", 1, 20'480};
  EXPECT_EQ(usable_of_whole(gpus), 18 * kOneGiB);
  gpus.memory_mib.reset();
  EXPECT_FALSE(usable_of_whole(gpus)) << "no label says it";
  gpus.memory_mib = kMost;
  EXPECT_TRUE(usable_of_whole(gpus));
  gpus.memory_mib = kMost + 1;
  EXPECT_FALSE(usable_of_whole(gpus)) << "no GPU has so much";
}

TEST(MemoryOnNode, IsOfInstancesThatOfOne) {
  const Node node = test::node("n1").a100_80(4);
  EXPECT_EQ(gib_on(node, "nvidia.com/mig-3g.40gb", 2), 36);
  EXPECT_EQ(gib_on(node, "nvidia.com/mig-1g.10gb.me"), 9);
  EXPECT_EQ(gib_on(node, "nvidia.com/mig-1g.5gb"), -1) << "another product's";
}

TEST(MemoryOnNode, UnderStrategySingleAGpuIsAnInstance) {
  const Node node = test::node("n1")
                        .a100_80(4)
                        .label(names::kGpuProduct, "NVIDIA-A100-SXM4-80GB-MIG-2g.20gb-SHARED")
                        .annotation(names::kInventoryAnnotation,
                                    R"({"product":"NVIDIA-A100-SXM4-80GB","count":4})");
  EXPECT_EQ(gib_on(node, "nvidia.com/gpu", 4), 18);
}

TEST(MemoryOnNode, TheFewestThatHoldItArePowersOfTwo) {
  const Node node = test::node("n1").a100_80(4);
  const auto fewest = [&](const char* resource, std::int64_t gib) {
    return fewest_on(node, resource, gib * kOneGiB).count;
  };
  EXPECT_EQ(fewest("nvidia.com/gpu", 72), 1);
  EXPECT_EQ(fewest("nvidia.com/gpu", 73), 2);
  EXPECT_EQ(fewest("nvidia.com/gpu", 145), 4);
  EXPECT_EQ(fewest("nvidia.com/gpu", 289), 0) << "the node has four";
  EXPECT_EQ(fewest("nvidia.com/mig-3g.40gb", 36), 1);
  EXPECT_EQ(fewest("nvidia.com/mig-3g.40gb", 37), 0);
  EXPECT_EQ(fewest("nvidia.com/gpu.shared", 1), 0) << "its isolation is not berth's to give away";
}

TEST(MemoryOnNode, TheSmallerOfTwoIsOneThatThereIs) {
  const Share none, small{"a", 1, 10}, large{"b", 1, 20};
  EXPECT_EQ(smaller(none, large).resource, "b");
  EXPECT_EQ(smaller(large, none).resource, "b");
  EXPECT_EQ(smaller(large, small).resource, "a");
}

}  // namespace
}  // namespace berth::advise
