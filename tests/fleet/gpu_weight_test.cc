// SPDX-License-Identifier: Apache-2.0
// The part of a GPU that one unit of a resource is.
#include "controller/fleet/gpu_weight.h"

#include <gtest/gtest.h>

namespace berth::test {
namespace {

constexpr std::int64_t kThird = 333'333;  // rounded down

Node node_labelled(StringMap labels) {
  Node node;
  node.meta.labels = std::move(labels);
  return node;
}
Node node_with(const char* product) {
  return node_labelled({{"nvidia.com/gpu.product", product}, {"nvidia.com/gpu.count", "8"}});
}
Node shared_by(const char* prefix, const char* strategy, const char* replicas,
               const char* product = "NVIDIA-A100-SXM4-80GB") {
  Node node = node_with(product);
  const std::string name = prefix;
  node.meta.labels.set(Text(name + ".replicas"), replicas);
  node.meta.labels.set(Text(name + ".sharing-strategy"), strategy);
  return node;
}

struct WeightCase {
  const char* name;
  Node node;
  const char* resource;
  std::optional<std::int64_t> weight;
};

TEST(GpuWeight, IsThePartOfTheGpusMemory) {
  const char* single = "NVIDIA-A100-SXM4-80GB-MIG-2g.20gb";
  const WeightCase cases[] = {
      {"a whole GPU", node_with("NVIDIA-A100-SXM4-80GB"), "nvidia.com/gpu", kWholeGpu},
      {"a whole GPU of an unknown product", node_with("NVIDIA-Unheard-Of"), "nvidia.com/gpu",
       kWholeGpu},
      {"a whole GPU without labels", node_labelled({}), "nvidia.com/gpu", kWholeGpu},

      {"mixed: an eighth", node_with("NVIDIA-A100-SXM4-80GB"), "nvidia.com/mig-1g.10gb",
       kWholeGpu / 8},
      {"mixed: the same name, of a GPU with less memory", node_with("NVIDIA-A100-SXM4-40GB"),
       "nvidia.com/mig-1g.10gb", kWholeGpu / 4},
      {"mixed: three compute slices have half of the memory", node_with("NVIDIA-A100-SXM4-80GB"),
       "nvidia.com/mig-3g.40gb", kWholeGpu / 2},
      {"mixed: with media engines", node_with("NVIDIA-A100-SXM4-80GB"), "nvidia.com/mig-1g.10gb.me",
       kWholeGpu / 8},
      {"mixed: a profile that the product lacks", node_with("NVIDIA-A100-SXM4-80GB"),
       "nvidia.com/mig-9g.90gb", std::nullopt},
      {"mixed: no profile", node_with("NVIDIA-A100-SXM4-80GB"), "nvidia.com/mig-", std::nullopt},
      {"mixed: of an unknown product", node_with("NVIDIA-Unheard-Of"), "nvidia.com/mig-1g.10gb",
       std::nullopt},
      {"A30: one slice of four", node_with("NVIDIA-A30"), "nvidia.com/mig-1g.6gb", kWholeGpu / 4},
      {"A30: two slices of four", node_with("NVIDIA-A30"), "nvidia.com/mig-2g.12gb", kWholeGpu / 2},

      {"single: the instance that the product ends with",
       node_labelled({{"nvidia.com/gpu.product", single}}), "nvidia.com/gpu", kWholeGpu / 4},
      {"single: of an unknown product",
       node_labelled({{"nvidia.com/gpu.product", "NVIDIA-Unheard-Of-MIG-2g.20gb"}}),
       "nvidia.com/gpu", std::nullopt},
      {"single: shared",
       node_labelled({{"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB-MIG-2g.20gb-SHARED"},
                      {"nvidia.com/gpu.replicas", "2"},
                      {"nvidia.com/gpu.sharing-strategy", "time-slicing"}}),
       "nvidia.com/gpu", kWholeGpu / 8},

      {"time-slicing: a replica that keeps the name",
       shared_by("nvidia.com/gpu", "time-slicing", "4", "NVIDIA-A100-SXM4-80GB-SHARED"),
       "nvidia.com/gpu", kWholeGpu / 4},
      {"time-slicing: a renamed replica", shared_by("nvidia.com/gpu", "time-slicing", "3"),
       "nvidia.com/gpu.shared", kThird},
      {"MPS: a renamed replica", shared_by("nvidia.com/gpu", "mps", "3"), "nvidia.com/gpu.shared",
       kThird},
      {"a replica of an instance", shared_by("nvidia.com/mig-3g.40gb", "time-slicing", "2"),
       "nvidia.com/mig-3g.40gb.shared", kWholeGpu / 4},
      {"an instance beside shared GPUs", shared_by("nvidia.com/gpu", "time-slicing", "3"),
       "nvidia.com/mig-3g.40gb", kWholeGpu / 2},

      {"another plugin's amount of memory", node_with("NVIDIA-A100-SXM4-80GB"), "nvidia.com/gpumem",
       std::nullopt},
      {"no resource", node_with("NVIDIA-A100-SXM4-80GB"), "", std::nullopt},
  };
  for (const WeightCase& each : cases) {
    EXPECT_EQ(gpu_weight(each.node, each.resource), each.weight) << each.name;
    GpuWeights weights(each.node);
    for (int time = 0; time < 2; ++time)
      EXPECT_EQ(weights.of(Text(each.resource)), each.weight) << each.name;
  }
}

// Exporters name the profile, the device plugin the resource: "+me" there is ".me" here.
TEST(GpuWeight, OfAnInstanceIsTheSameByEitherName) {
  const Node shared = shared_by("nvidia.com/mig-1g.10gb", "time-slicing", "2");
  GpuWeights weights(shared);
  for (const char* profile : {"1g.10gb", "1g.10gb+me", "1g.10gb.me"}) {
    EXPECT_EQ(instance_weight(shared, profile), kWholeGpu / 8) << profile;
    EXPECT_EQ(weights.of_instance(Text(profile)), kWholeGpu / 8) << profile << ": all replicas";
  }
  EXPECT_EQ(weights.of_instance(Text("")), std::nullopt);
}

TEST(GpuResource, IsWhatNvidiasDevicePluginOffersGpusAs) {
  for (const char* name : {"nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-1g.10gb",
                           "nvidia.com/mig-1g.10gb.me.shared"})
    EXPECT_TRUE(is_gpu_resource(name)) << name;
  for (const char* name : {"nvidia.com/gpumem", "nvidia.com/gpucores", "nvidia.com/hostdev", "gpu",
                           "amd.com/gpu", "nvidia.com/gpu.count"})
    EXPECT_FALSE(is_gpu_resource(name)) << name;
  EXPECT_EQ(unshared_resource("nvidia.com/gpu.shared"), kGpuResource);
  EXPECT_EQ(unshared_resource("nvidia.com/gpu"), kGpuResource);
}

TEST(GpusIn, LeavesOutOtherResourcesAndZeroes) {
  const ResourceList list{{"cpu", Quantity::whole(4)},
                          {"nvidia.com/gpu", Quantity::whole(0)},
                          {"nvidia.com/gpu.shared", Quantity::whole(2)},
                          {"nvidia.com/gpumem", Quantity::whole(3000)},
                          {"nvidia.com/mig-1g.10gb", Quantity::whole(7)},
                          {"zz", Quantity::whole(1)}};
  std::string seen;
  for (const auto& [resource, quantity] : gpus_in(list))
    seen += resource.str() + " " + quantity.str() + "; ";
  EXPECT_EQ(seen, "nvidia.com/gpu.shared 2; nvidia.com/mig-1g.10gb 7; ");
  EXPECT_TRUE(gpus_in({}).empty());
  EXPECT_TRUE(gpus_in({{"nvidia.com/gpu", Quantity()}}).empty());
}

}  // namespace
}  // namespace berth::test
