// SPDX-License-Identifier: Apache-2.0
// The simulated exporters' series about GPUs and their holders.
#include "controller/sim/nvidia/prometheus.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace berth::sim {
namespace {

using nlohmann::json;
using testing::ElementsAre;

class PrometheusTest : public testing::Test {
 protected:
  PrometheusTest() { gauges_.add_node({.name = "n1", .product = "A100", .gpus = 4}); }

  void put_pod(const std::string& name, int gpus, const std::string& phase = "Running") {
    store_.put({find_resource_type("pods"), "team-a", name},
               json::parse(fmt::format(
                   R"({{"metadata":{{"namespace":"team-a","name":"{0}","uid":"u-{0}",
                        "labels":{{"app":"train"}}}},
                        "spec":{{"nodeName":"n1","containers":[{{"name":"main",
                          "resources":{{"limits":{{"nvidia.com/gpu":"{1}"}}}}}}]}},
                        "status":{{"phase":"{2}"}}}})",
                   name, gpus, phase)),
               "test");
  }
  void remove_pod(const std::string& name) {
    store_.erase({find_resource_type("pods"), "team-a", name}, "test");
  }
  // Each GPU in order, its pod and utilization: "a 0".
  std::vector<std::string> told() {
    std::vector<std::string> lines;
    const json answer =
        json::parse(prometheus_.answer_to("/api/v1/query?query=DCGM_FI_DEV_GPU_UTIL"));
    for (const json& series : answer["data"]["result"])
      lines.push_back(series["metric"].value("exported_pod", "-") + " " +
                      series["value"][1].get<std::string>());
    return lines;
  }

  Store store_;
  GpuGauges gauges_;
  Prometheus prometheus_{store_, gauges_};
};

TEST_F(PrometheusTest, NamesNobodyUntilSomebodysUseIsSaid) {
  put_pod("a", 2);
  EXPECT_THAT(told(), ElementsAre("- 50", "- 50", "- 50", "- 50"));
}

TEST_F(PrometheusTest, EachGpuShowsWhatItsHolderDoesWithIt) {
  put_pod("a", 2);
  put_pod("b", 1);
  gauges_.use("team-a/b", 3);
  EXPECT_THAT(told(), ElementsAre("a 50", "a 50", "b 3", "- 0"));
}

TEST_F(PrometheusTest, WhatIsSaidOfAWorkloadHoldsForEachOfItsPodsAlsoLater) {
  gauges_.use("team-a/train", 0);
  gauges_.use("team-a/b", 90);
  put_pod("a", 1);
  EXPECT_THAT(told(), ElementsAre("a 0", "- 0", "- 0", "- 0"));
  put_pod("b", 1);
  EXPECT_THAT(told(), ElementsAre("a 0", "b 90", "- 0", "- 0"));
}

TEST_F(PrometheusTest, WhoHoldsAGpuKeepsItAndTheFirstThatIsFreeIsTaken) {
  gauges_.use("team-a/train", 0);
  put_pod("a", 1);
  put_pod("b", 1);
  EXPECT_THAT(told(), ElementsAre("a 0", "b 0", "- 0", "- 0"));
  remove_pod("a");
  EXPECT_THAT(told(), ElementsAre("- 0", "b 0", "- 0", "- 0"));
  put_pod("c", 2);
  EXPECT_THAT(told(), ElementsAre("c 0", "b 0", "c 0", "- 0"));
  put_pod("b", 1, "Succeeded");
  EXPECT_THAT(told(), ElementsAre("c 0", "- 0", "c 0", "- 0"));
}

TEST_F(PrometheusTest, AnIdleGpuDrawsLittle) {
  gauges_.use("team-a/a", 0);
  put_pod("a", 1);
  put_pod("b", 1);
  const json answer =
      json::parse(prometheus_.answer_to("/api/v1/query?query=DCGM_FI_DEV_POWER_USAGE"));
  EXPECT_EQ(answer["data"]["result"][0]["value"][1], "60");
  EXPECT_EQ(answer["data"]["result"][1]["value"][1], "300");
}

}  // namespace
}  // namespace berth::sim
