// SPDX-License-Identifier: Apache-2.0
#include "controller/cost/node_price.h"

#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace berth::test {
namespace {

constexpr char kType[] = "node.kubernetes.io/instance-type";

GPUClusterPolicySpec table() {
  GPUClusterPolicySpec spec;
  spec.pools.resize(1);
  spec.pools[0].price = PriceSpec{"3", "EUR"};
  spec.prices = {{.instance_type = "p4d.24xlarge",
                  .capacity_type = CapacityType::kSpot,
                  .per_node_hour = "9.85"},
                 {.instance_type = "p4d.24xlarge", .per_node_hour = "32.77"},
                 {.product = "NVIDIA-A100-SXM4-80GB",
                  .capacity_type = CapacityType::kReserved,
                  .per_gpu_hour = "0.20"}};
  return spec;
}
std::string told(const GPUClusterPolicySpec& spec, const Node& node) {
  const auto price = cost::price_of(spec, spec.pools[0], node);
  return price ? cost::format_money(price->per_hour, 2) + " " + price->currency : "none";
}

TEST(NodePrice, TheFirstRowThatFitsElseThePools) {
  const GPUClusterPolicySpec spec = table();
  EXPECT_EQ(told(spec, node("n").a100_80(8).label(kType, "p4d.24xlarge")), "32.77 USD");
  EXPECT_EQ(told(spec, node("n")
                           .a100_80(8)
                           .label(kType, "p4d.24xlarge")
                           .label("karpenter.sh/capacity-type", "spot")),
            "9.85 USD");
  EXPECT_EQ(
      told(spec, node("n").a100_80(8).label("eks.amazonaws.com/capacityType", "CAPACITY_BLOCK")),
      "1.60 USD");
  EXPECT_EQ(told(spec, node("n").a100_80(8)), "24.00 EUR");
}

TEST(NodePrice, ARowIsForAllThatItNames) {
  const auto row_for = [](const std::string& type, const std::string& product,
                          std::optional<CapacityType> capacity) {
    GPUClusterPolicySpec spec;
    spec.pools.resize(1);
    spec.prices = {{.instance_type = type,
                    .product = product,
                    .capacity_type = capacity,
                    .per_gpu_hour = "2"}};
    return told(spec, node("n").a100_80(4).label(kType, "p4d"));
  };
  constexpr char kA100[] = "NVIDIA-A100-SXM4-80GB";
  EXPECT_EQ(row_for("p4d", kA100, CapacityType::kOnDemand), "8.00 USD");
  EXPECT_EQ(row_for("", "", {}), "8.00 USD") << "it names nothing, and is for all";
  EXPECT_EQ(row_for("p5", kA100, CapacityType::kOnDemand), "none");
  EXPECT_EQ(row_for("p4d", "NVIDIA-H100-80GB-HBM3", CapacityType::kOnDemand), "none");
  EXPECT_EQ(row_for("p4d", kA100, CapacityType::kSpot), "none");
}

TEST(NodePrice, OfWhatNobodyPricedNothingIsSaid) {
  GPUClusterPolicySpec spec = table();
  spec.pools[0].price.reset();
  EXPECT_EQ(told(spec, node("n").a100_80(8)), "none");
  EXPECT_EQ(told(spec, node("n").label(kType, "p4d.24xlarge")), "none") << "it has no GPUs";
  EXPECT_TRUE(cost::has_prices(spec));
  spec.prices.clear();
  EXPECT_FALSE(cost::has_prices(spec));
}

TEST(NodePrice, CapacityIsToldByEachCloudsLabels) {
  using enum CapacityType;
  EXPECT_EQ(cost::capacity_type_of(node("n")), kOnDemand);
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
           {"karpenter.sh/capacity-type", "spot"},
           {"eks.amazonaws.com/capacityType", "SPOT"},
           {"cloud.google.com/gke-spot", "true"},
           {"cloud.google.com/gke-preemptible", "true"},
           {"kubernetes.azure.com/scalesetpriority", "spot"}})
    EXPECT_EQ(cost::capacity_type_of(node("n").label(key, value)), kSpot) << key;
  EXPECT_EQ(cost::capacity_type_of(node("n").label("karpenter.sh/capacity-type", "reserved")),
            kReserved);
  EXPECT_EQ(cost::capacity_type_of(node("n").label("karpenter.sh/capacity-type", "on-demand")),
            kOnDemand);
}

}  // namespace
}  // namespace berth::test
