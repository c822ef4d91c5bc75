// SPDX-License-Identifier: Apache-2.0
// GPUs by cloud providers' labels, where NVIDIA's are absent.
#include "controller/fleet/cloud_gpus.h"

#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "controller/fleet/geometry.h"
#include "controller/fleet/node_facts.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

Node with_gpus(Node node, std::int64_t count) {
  node.capacity.set("nvidia.com/gpu", Quantity::whole(count));
  return node;
}

TEST(CloudGpus, EachCloudsNameIsNvidiasProduct) {
  const auto product = [](const Node& node) { return cloud_gpus_of(node).product; };
  EXPECT_EQ(product(node("n1").label("cloud.google.com/gke-accelerator", "nvidia-tesla-a100")),
            "NVIDIA-A100-SXM4-40GB");
  EXPECT_EQ(product(node("n1").label("cloud.google.com/gke-accelerator", "nvidia-h100-80gb")),
            "NVIDIA-H100-80GB-HBM3");
  EXPECT_EQ(product(node("n1").label("k8s.amazonaws.com/accelerator", "nvidia-tesla-v100")),
            "Tesla-V100-SXM2-16GB");
  EXPECT_EQ(product(node("n1").label("eks.amazonaws.com/instance-gpu-name", "l4")), "NVIDIA-L4");
  const NodeBuilder a100 = node("n1").label("karpenter.k8s.aws/instance-gpu-name", "a100");
  EXPECT_EQ(product(a100), "NVIDIA-A100-SXM4-40GB");
  EXPECT_EQ(product(NodeBuilder(a100).label("karpenter.k8s.aws/instance-gpu-memory", "81920")),
            "NVIDIA-A100-SXM4-80GB");
  EXPECT_EQ(product(node("n1").label("karpenter.k8s.aws/instance-gpu-name", "radeon-pro-v520")),
            "");
  EXPECT_EQ(product(node("n1")), "");
}

TEST(CloudGpus, TheCountIsALabelsOrWhatTheNodeHas) {
  const NodeBuilder h100 = node("n1").label("eks.amazonaws.com/instance-gpu-name", "h100");
  EXPECT_EQ(inventory_of(NodeBuilder(h100).label("eks.amazonaws.com/instance-gpu-count", "8")),
            (Inventory{"NVIDIA-H100-80GB-HBM3", 8, std::nullopt}));
  EXPECT_EQ(inventory_of(with_gpus(h100, 4)),
            (Inventory{"NVIDIA-H100-80GB-HBM3", 4, std::nullopt}));
  EXPECT_FALSE(inventory_of(h100)) << "nobody says how many";
  const Node shared = with_gpus(node("n1")
                                    .label("cloud.google.com/gke-accelerator", "nvidia-l4")
                                    .label("cloud.google.com/gke-gpu-sharing-strategy", "mps"),
                                48);
  EXPECT_FALSE(inventory_of(shared)) << "it offers each of them several times";
  for (const Node& each : {Node(h100), shared}) EXPECT_TRUE(has_gpus(each));
  EXPECT_NE(find_product(inventory_of(with_gpus(h100, 4))->product), nullptr)
      << "a product that MIG can cut";
}

TEST(CloudGpus, ACountIsAWholeNumberUpToSixtyFour) {
  const auto count = [](const char* text) {
    return cloud_gpus_of(with_gpus(node("n1")
                                       .label("eks.amazonaws.com/instance-gpu-name", "h100")
                                       .label("eks.amazonaws.com/instance-gpu-count", text),
                                   2))
        .count;
  };
  EXPECT_EQ(count("1"), 1);
  EXPECT_EQ(count("64"), 64);
  EXPECT_EQ(count("65"), std::nullopt) << "no node has as many";
  for (const char* none : {"0", "-1", "4x", "x", ""}) EXPECT_EQ(count(none), 2) << none;
}

TEST(CloudGpus, AnEmptyLabelSaysNothing) {
  const Node made = node("n1")
                        .label("cloud.google.com/gke-accelerator", "")
                        .label("eks.amazonaws.com/instance-gpu-name", "l4");
  EXPECT_EQ(cloud_gpus_of(made).product, "NVIDIA-L4");
}

TEST(CloudGpus, NvidiasLabelsComeFirst) {
  const Node node = with_gpus(test::node("n1")
                                  .a100_80(4)
                                  .label("cloud.google.com/gke-accelerator", "nvidia-l4")
                                  .label("eks.amazonaws.com/instance-gpu-count", "1"),
                              4);
  EXPECT_EQ(inventory_of(node)->product, "NVIDIA-A100-SXM4-80GB");
  EXPECT_TRUE(inventory_texts(node).cloud.empty());
  EXPECT_FALSE(
      inventory_to_record(test::node("n1").label("cloud.google.com/gke-accelerator", "nvidia-l4")))
      << "nothing is recorded that a label says still";
}

TEST(CloudGpus, AnotherLabelIsAnotherInventory) {
  const auto texts = [](const char* name) {
    return inventory_texts(
        with_gpus(node("n1").label("karpenter.k8s.aws/instance-gpu-name", name), 8));
  };
  EXPECT_NE(texts("h100"), texts("h200"));
}

}  // namespace
}  // namespace berth::test
