// SPDX-License-Identifier: Apache-2.0
// Utilization, cost and quota use the same part of a GPU for a MIG instance.
#include <gtest/gtest.h>

#include "controller/cost/node_use.h"
#include "controller/fleet/allocatable.h"
#include "controller/observe/gpu_use.h"
#include "controller/queue/index/facts_from.h"
#include "tests/observe/measured.h"

namespace berth::test {
namespace {

struct Instance {
  const char* product;
  const char* profile;
  std::int64_t weight;
};

// One GPU whose only instance is half busy, and a pod that holds it.
Measured half_busy(const Instance& instance) {
  Measured world;
  const std::string resource = mig_resource_name(instance.profile);
  world.cluster.upsert<Node>(node("n1")
                                 .label("nvidia.com/gpu.product", instance.product)
                                 .label("nvidia.com/gpu.count", "1")
                                 .allocatable(resource, 1),
                             world.now);
  world.run(pod("p").requests(resource, 1).on("n1"));
  world.look(std::string(R"(DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",UUID="GPU-a",GPU_I_ID="2",)") +
             R"(Hostname="n1",namespace="team-a",pod="p",GPU_I_PROFILE=")" + instance.profile +
             "\"} 0.5\n");
  return world;
}

TEST(OneWeight, IsWhatUtilizationCostAndQuotaCountAnInstanceAs) {
  for (const Instance& instance : {Instance{"NVIDIA-A100-SXM4-80GB", "1g.10gb", 125'000},
                                   Instance{"NVIDIA-A100-SXM4-80GB", "3g.40gb", 500'000},
                                   Instance{"NVIDIA-H100-80GB-HBM3", "1g.20gb", 250'000},
                                   Instance{"NVIDIA-A30", "1g.6gb", 250'000}}) {
    SCOPED_TRACE(instance.profile);
    const Measured world = half_busy(instance);
    const Node& n1 = *world.cluster.nodes().find("n1");

    const queue::NodeFact fact = queue::node_fact(n1, "all");
    ASSERT_EQ(fact.gpu_weights.size(), 1u);
    EXPECT_EQ(fact.gpu_weights[0].second, instance.weight);

    const cost::NodeUse cost = cost::use_of(world.snapshot(), n1);
    ASSERT_EQ(cost.held.size(), 1u);
    EXPECT_EQ(cost.held[0].used, instance.weight / 2);
    EXPECT_EQ(cost.held[0].idle, instance.weight / 2);

    const GpuUse use = survey_use(world.snapshot(), world.policy());
    EXPECT_DOUBLE_EQ(use.total.activity * kWholeGpu, static_cast<double>(instance.weight) / 2);
  }
}

// berth invents no number for a product that it does not know.
TEST(OneWeight, OfAnUnknownProductIsNone) {
  const Measured world = half_busy({"NVIDIA-Unheard-Of", "1g.10gb", 0});
  const Node& n1 = *world.cluster.nodes().find("n1");
  EXPECT_TRUE(queue::node_fact(n1, "all").gpu_weights.empty());
  EXPECT_TRUE(cost::use_of(world.snapshot(), n1).held.empty());
  const GpuUse use = survey_use(world.snapshot(), world.policy());
  EXPECT_EQ(use.total.measured, 0);
  ASSERT_EQ(use.pods.size(), 1u);
  EXPECT_EQ(use.pods[0].standing, UseState::kBusy) << "whether a pod is idle needs no weight";
}

}  // namespace
}  // namespace berth::test
