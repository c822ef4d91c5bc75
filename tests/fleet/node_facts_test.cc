// SPDX-License-Identifier: Apache-2.0
#include "controller/fleet/node_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

constexpr char kRecorded[] = R"({"product":"NVIDIA-A100-SXM4-80GB","count":4,"memoryMiB":81920})";

TEST(NodeFacts, TheInventoryIsReadFromLabelsOfWholeGpusElseFromWhatWasRecorded) {
  const Inventory four{"NVIDIA-A100-SXM4-80GB", 4, 81920};
  struct Case {
    const char* sentence;
    Node node;
    std::optional<Inventory> inventory;
  };
  const auto recorded = [](const char* text) {
    return Node(node("n1").annotation(names::kInventoryAnnotation, text));
  };
  for (const Case& c : {
           Case{"labels", node("n1").a100_80(4), four},
           Case{"shared GPUs",
                node("n1").a100_80(4).label(names::kGpuProduct, "NVIDIA-A100-SXM4-80GB-SHARED"),
                four},
           Case{"the record", recorded(kRecorded), four},
           Case{"the record, where labels tell of MIG devices",
                node("n1")
                    .a100_80(4)
                    .annotation(names::kInventoryAnnotation, kRecorded)
                    .label(names::kGpuProduct, "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"),
                four},
           Case{"labels before a record",
                node("n1").a100_80(8).annotation(names::kInventoryAnnotation, kRecorded),
                Inventory{"NVIDIA-A100-SXM4-80GB", 8, 81920}},
           Case{"no count", node("n1").label(names::kGpuProduct, "X"), std::nullopt},
           Case{"no product", node("n1").label(names::kGpuCount, "4"), std::nullopt},
           Case{"the record, where a label says only how many",
                node("n1")
                    .label(names::kGpuCount, "8")
                    .annotation(names::kInventoryAnnotation, kRecorded),
                four},
           Case{"a count of none",
                node("n1").label(names::kGpuProduct, "X").label(names::kGpuCount, "0"),
                std::nullopt},
           Case{"64 GPUs", node("n1").label(names::kGpuProduct, "X").label(names::kGpuCount, "64"),
                Inventory{"X", 64, std::nullopt}},
           Case{"65 GPUs", node("n1").label(names::kGpuProduct, "X").label(names::kGpuCount, "65"),
                std::nullopt},
           Case{"a record without product", recorded(R"({"product":"","count":4})"), std::nullopt},
           Case{"a record of none", recorded(R"({"product":"X","count":0})"), std::nullopt},
           Case{"a record of 65", recorded(R"({"product":"X","count":65})"), std::nullopt},
           Case{"a record that is text", recorded("four"), std::nullopt},
           Case{"a record with a text for a count", recorded(R"({"product":"X","count":"4"})"),
                std::nullopt},
       })
    EXPECT_EQ(inventory_of(c.node), c.inventory) << c.sentence;
}

TEST(NodeFacts, WhatIsToBeRecordedIsWhatTheLabelsTellAnew) {
  EXPECT_THAT(inventory_to_record(node("n1").a100_80(4)), Optional(std::string(kRecorded)));
  EXPECT_EQ(
      inventory_to_record(node("n1").a100_80(4).annotation(names::kInventoryAnnotation, kRecorded)),
      std::nullopt);
  EXPECT_NE(
      inventory_to_record(node("n1").a100_80(8).annotation(names::kInventoryAnnotation, kRecorded)),
      std::nullopt);
  EXPECT_EQ(inventory_to_record(node("n1")), std::nullopt);
}

TEST(NodeFacts, AnyOfThreeMarksTellsOfGpus) {
  EXPECT_TRUE(has_gpus(node("n1").label(names::kGpuProduct, "X")));
  EXPECT_TRUE(has_gpus(node("n1").label(names::kGpuPresent, "true")));
  EXPECT_TRUE(has_gpus(node("n1").annotation(names::kInventoryAnnotation, kRecorded)));
  EXPECT_FALSE(has_gpus(node("n1").label(names::kGpuPresent, "false")));
  EXPECT_FALSE(has_gpus(node("n1")));
}

TEST(NodeFacts, TheStrategyIsTheNodesElseNvidiasPolicys) {
  ClusterState cluster;
  EXPECT_EQ(strategy_of(cluster, node("n1")), std::nullopt);
  ClusterPolicy policy;
  policy.meta.name = "cluster-policy";
  policy.mig_strategy = "single";
  cluster.upsert(policy, {});
  EXPECT_EQ(strategy_of(cluster, node("n1")), MigStrategy::kSingle);
  EXPECT_EQ(strategy_of(cluster, node("n1").label(names::kMigStrategy, "mixed")),
            MigStrategy::kMixed);
  EXPECT_EQ(strategy_of(cluster, node("n1").label(names::kMigStrategy, "odd")),
            MigStrategy::kSingle);
}

TEST(NodeFacts, OnlyOperandsThatMigManagerPausesAreToBeResumed) {
  const Node paused = node("n1")
                          .label("nvidia.com/gpu.deploy.dcgm", names::kPausedForMigChange)
                          .label("nvidia.com/gpu.deploy.device-plugin", "true")
                          .label("example.com/other", names::kPausedForMigChange);
  EXPECT_THAT(paused_labels(paused), ElementsAre("nvidia.com/gpu.deploy.dcgm"));
  EXPECT_THAT(paused_labels(node("n1")), IsEmpty());
}

TEST(NodeFacts, ADriverUpgradeOrAnAutoscalerHasTheNode) {
  struct Case {
    const char* sentence;
    Node node;
    bool others;
  };
  Node deleted = node("n1");
  deleted.meta.deletion_timestamp = Time{};
  for (const Case& c : {
           Case{"nothing", node("n1"), false},
           Case{"an upgrade", node("n1").label(names::kDriverUpgradeState, "cordon-required"),
                true},
           Case{"an upgrade that is done",
                node("n1").label(names::kDriverUpgradeState, "upgrade-done"), false},
           Case{"operands that were paused for one",
                node("n1").label("nvidia.com/gpu.deploy.dcgm", names::kPausedForDriverUpgrade),
                true},
           Case{"another's label with that value",
                node("n1").label("example.com/x", names::kPausedForDriverUpgrade), false},
           Case{"the cluster autoscaler",
                node("n1").taint("ToBeDeletedByClusterAutoscaler", "NoSchedule"), true},
           Case{"Karpenter", node("n1").taint("karpenter.sh/disrupted", "NoSchedule"), true},
           Case{"an older Karpenter", node("n1").taint("karpenter.sh/disruption", "NoSchedule"),
                true},
           Case{"AWS takes a spot instance back",
                node("n1").taint("aws-node-termination-handler/spot-itn", "NoSchedule"), true},
           Case{"GKE does",
                node("n1").taint("cloud.google.com/impending-node-termination", "NoSchedule"),
                true},
           Case{"AKS does",
                node("n1").taint("remediator.kubernetes.azure.com/unschedulable", "NoSchedule"),
                true},
           Case{"AKS's spot nodes have this one all their lives",
                node("n1").taint("kubernetes.azure.com/scalesetpriority", "NoSchedule"), false},
           Case{"AWS thinks of it",
                node("n1").taint("aws-node-termination-handler/rebalance-recommendation",
                                 "NoSchedule"),
                false},
           Case{"the cluster autoscaler would like to",
                node("n1").taint("DeletionCandidateOfClusterAutoscaler", "PreferNoSchedule"),
                false},
           Case{"another taint", node("n1").taint("example.com/x", "NoSchedule"), false},
           Case{"its deletion", deleted, true},
       })
    EXPECT_EQ(in_others_hands(c.node), c.others) << c.sentence;
}

TEST(NodeFacts, NothingBeginsOnANodeThatIsAboutToGo) {
  EXPECT_TRUE(is_here_to_stay(node("n1")));
  EXPECT_FALSE(is_here_to_stay(node("n1").cordoned()));
  const Node spot = node("n1").taint("aws-node-termination-handler/spot-itn", "NoSchedule");
  EXPECT_FALSE(is_here_to_stay(spot));
  EXPECT_EQ(departure_mark(spot), "taint aws-node-termination-handler/spot-itn");
  EXPECT_FALSE(is_here_to_stay(
      node("n1").taint("aws-node-termination-handler/rebalance-recommendation", "NoSchedule")));
}

// Without any feature label, no discovery has run.
TEST(NodeFacts, OneNumaNodeIsWhatNodeFeatureDiscoveryFindsNoSecondOf) {
  EXPECT_FALSE(has_one_numa_node(node("n1").label("nvidia.com/gpu.count", "8")));
  Node looked_at = node("n1").label("feature.node.kubernetes.io/pci-10de.present", "true");
  EXPECT_TRUE(has_one_numa_node(looked_at));
  looked_at.meta.labels.set("feature.node.kubernetes.io/memory-numa", "true");
  EXPECT_FALSE(has_one_numa_node(looked_at));
}

TEST(NodeFacts, ANodeOffersGpusWhereAnyIsAllocatable) {
  EXPECT_TRUE(offers_gpus(node("n1").allocatable("nvidia.com/mig-1g.10gb", 1)));
  EXPECT_FALSE(offers_gpus(node("n1").allocatable("nvidia.com/gpu", 0).allocatable("cpu", 4)));
}

}  // namespace
}  // namespace berth::test
