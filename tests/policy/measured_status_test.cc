// SPDX-License-Identifier: Apache-2.0
// GPU utilization in the policy's status, and what berth can't measure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "controller/policy/reconcile.h"
#include "tests/observe/measured.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kHealthy[] =
    "DCGM_FI_DEV_GPU_TEMP{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\"} 40\n"
    "DCGM_FI_DEV_XID_ERRORS{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\"} 0\n";

class MeasuredStatus : public ::testing::Test {
 protected:
  MeasuredStatus() {
    GPUClusterPolicy policy = measured_.policy();
    policy.meta.finalizers = {names::kFinalizer};
    measured_.cluster.upsert(std::move(policy), measured_.now);
  }
  void act_on_faults(HealthAction action) {
    GPUClusterPolicy policy = measured_.policy();
    policy.spec.health.action = action;
    measured_.cluster.upsert(std::move(policy), measured_.now);
  }
  static std::string util(int percent) {
    return fmt::format(
        "DCGM_FI_DEV_GPU_UTIL{{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\",namespace=\"team-a\","
        "pod=\"p\"}} {}\n{}",
        percent, kHealthy);
  }
  void look_for(Duration span, const std::string& text) {
    for (const Time end = measured_.now + span; measured_.now < end; measured_.now += 30s)
      measured_.look(text);
  }
  json status() {
    const Plan plan = reconcile_policy(measured_.snapshot());
    return plan.statuses.empty() ? json() : json::parse(plan.statuses.front().body)["status"];
  }
  std::string missing() {
    const json told = status();
    for (const json& condition : told["conditions"])
      if (condition["type"] == "MetricsMissing")
        return condition["reason"].get<std::string>() + ": " +
               condition["message"].get<std::string>();
    return "";
  }
  void samples_say(Samples samples) { measured_.samples = std::move(samples); }
  Measured measured_;
};

TEST_F(MeasuredStatus, CountsUseAndIdleGpusByPool) {
  measured_.run(pod("p").gpu(1).on("n1"));
  look_for(31min, util(0));
  json told = status();
  EXPECT_EQ(told["pools"][0]["utilization"], 0);
  EXPECT_EQ(told["pools"][0]["idleGPUs"], 1);
  EXPECT_EQ(told["totals"]["idleGPUs"], 1);
  look_for(1min, util(60));
  told = status();
  EXPECT_EQ(told["pools"][0]["utilization"], 60);
  EXPECT_EQ(told["pools"][0]["idleGPUs"], 0);
  EXPECT_EQ(missing(), "") << "double-bit errors are told by XID 48";
}

TEST_F(MeasuredStatus, CountsWhatWasTakenBackWhereThePolicyTakesAnythingBack) {
  for (const IdlePolicy idle :
       {IdlePolicy::kObserve, IdlePolicy::kNotify, IdlePolicy::kOnPressure, IdlePolicy::kAlways}) {
    GPUClusterPolicy policy = measured_.policy();
    policy.spec.idle.policy = idle;
    measured_.cluster.upsert(std::move(policy), measured_.now);
    const json totals = status()["totals"];
    const bool takes = idle == IdlePolicy::kOnPressure || idle == IdlePolicy::kAlways;
    EXPECT_EQ(totals.contains("reclaimed"), takes) << to_string(idle);
    EXPECT_EQ(totals.value("reclaimed", 0), 0);
  }
}

TEST_F(MeasuredStatus, WasteIsWhatIsNotAtWorkAtThePrice) {
  GPUClusterPolicy policy = measured_.policy();
  policy.spec.pools[0].price = PriceSpec{"3.06", "EUR"};
  measured_.cluster.upsert(std::move(policy), measured_.now);
  measured_.cluster.upsert<Node>(node("n1").a100_80(4).allocatable("nvidia.com/gpu", 4),
                                 measured_.now);
  measured_.run(pod("p").gpu(1).on("n1"));
  EXPECT_FALSE(status()["totals"].contains("monthlyWaste")) << "nothing is measured yet";
  look_for(1min, util(60));
  const json told = status();
  // Three free GPUs and two fifths of the fourth, at 3.06 for 730 hours.
  EXPECT_EQ(told["pools"][0]["monthlyWaste"], "7595");
  EXPECT_EQ(told["totals"]["monthlyWaste"], "7595 EUR");
}

// A new leader has no measurements yet, and reclaims nothing.
TEST_F(MeasuredStatus, StaysAsItWasUntilTheFirstRound) {
  GPUClusterPolicy policy = measured_.policy();
  policy.status.totals.idle_gpus = 3;
  policy.status.pools = {{.name = "all", .utilization = 17, .idle_gpus = 3}};
  policy.status.conditions = {{"MetricsMissing", "True", "SeriesMissing", "so", 0, {}}};
  measured_.cluster.upsert(std::move(policy), measured_.now);
  const json told = status();
  EXPECT_EQ(told["pools"][0]["utilization"], 17);
  EXPECT_EQ(told["totals"]["idleGPUs"], 3);
  EXPECT_EQ(missing(), "SeriesMissing: so");
}

TEST_F(MeasuredStatus, WhatIsNotMeasuredIsNoNumber) {
  measured_.run(pod("p").gpu(1).on("n1"));
  look_for(1min, kHealthy);
  const json told = status();
  EXPECT_FALSE(told["pools"][0].contains("utilization"));
  EXPECT_FALSE(told["totals"].contains("idleGPUs"));
  EXPECT_THAT(missing(),
              AllOf(HasSubstr("SeriesMissing: the exporters have no DCGM_FI_DEV_GPU_UTIL"),
                    HasSubstr("add to the exporter's CSV: DCGM_FI_DEV_GPU_UTIL, gauge")));
}

TEST_F(MeasuredStatus, OfMigInstancesTheEngineIsWanted) {
  look_for(1min,
           "DCGM_FI_DEV_FB_USED{gpu=\"0\",UUID=\"GPU-a\",GPU_I_ID=\"3\",GPU_I_PROFILE="
           "\"1g.10gb\",Hostname=\"n1\"} 10\n" +
               std::string(kHealthy));
  EXPECT_THAT(missing(), HasSubstr("DCGM_FI_PROF_GR_ENGINE_ACTIVE (use of MIG instances)"));
}

TEST_F(MeasuredStatus, ErrorsThatNothingTellsAreWanted) {
  look_for(1min, "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\"} 0\n");
  EXPECT_THAT(missing(), AllOf(HasSubstr("DCGM_FI_DEV_GPU_TEMP"), HasSubstr("DCGM_FI_DEV_XID"),
                               HasSubstr("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL")));
}

TEST_F(MeasuredStatus, APodThatNoSeriesNamesIsSaid) {
  measured_.run(pod("p").gpu(1).on("n1"));
  look_for(1min, "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\"} 0\n" +
                     std::string(kHealthy));
  EXPECT_THAT(missing(), HasSubstr("PodsNotNamed: no series names 1 pod that holds GPUs"));
  EXPECT_EQ(status()["totals"]["idleGPUs"], 0) << "nobody is blamed";
}

TEST_F(MeasuredStatus, CountsNodesWithAFaultAndSaysWhenThereAreTooMany) {
  const auto xid = [](int n, int code) {
    return fmt::format(
        "DCGM_FI_DEV_XID_ERRORS{{gpu=\"0\",UUID=\"GPU-{0}\",Hostname=\"n{0}\"}} {1}\n", n, code);
  };
  measured_.cluster.upsert<Node>(node("n2").a100_80(4), measured_.now);
  act_on_faults(HealthAction::kCordon);
  look_for(1min, xid(1, 79) + xid(2, 0));
  EXPECT_EQ(status()["totals"]["unhealthyNodes"], 0) << "it stood there before";
  look_for(30s, xid(1, 48) + xid(2, 0));
  EXPECT_EQ(status()["totals"]["unhealthyNodes"], 1);
  EXPECT_THAT(status()["conditions"].dump(), Not(HasSubstr("HealthLimited")));
  look_for(30s, xid(1, 48) + xid(2, 95));
  EXPECT_EQ(status()["totals"]["unhealthyNodes"], 2);
  EXPECT_THAT(status()["conditions"].dump(), HasSubstr("2 of the 2 nodes of pool all look broken"));
  act_on_faults(HealthAction::kReport);
  EXPECT_THAT(status()["conditions"].dump(), Not(HasSubstr("HealthLimited")))
      << "no node is taken out of service anyway";
}

TEST_F(MeasuredStatus, WhatCountsForNothingIsReported) {
  measured_.samples.second_hand = true;
  act_on_faults(HealthAction::kCordon);
  const auto xid = [](int code) {
    return fmt::format("DCGM_FI_DEV_XID_ERRORS{{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\"}} {}\n",
                       code);
  };
  look_for(1min, xid(0));
  EXPECT_THAT(status()["conditions"].dump(),
              AllOf(Not(HasSubstr("NotConfirmed")), Not(HasSubstr("MetricsIgnored"))));
  look_for(30s, xid(79));
  measured_.samples.ignored = Cause{"ForeignSeries", "7 series of team-b/fake"};
  const std::string told = status()["conditions"].dump();
  EXPECT_THAT(told, HasSubstr(R"("type":"MetricsIgnored")"));
  EXPECT_THAT(told, HasSubstr("7 series of team-b/fake"));
  EXPECT_THAT(told, HasSubstr(R"("type":"NotConfirmed")"));
  EXPECT_THAT(told, HasSubstr("only reported, of node n1: GPU 0: XID 79"));
  EXPECT_THAT(told, Not(HasSubstr("Stalled")));
}

// It is a condition next to Ready, and blocks nothing.
TEST_F(MeasuredStatus, TroubleOfTheSourceComesFirstAndStallsNothing) {
  Samples samples;
  samples.tried_at = measured_.now;
  samples.trouble = Cause{"MetricsUnreachable", "does not answer"};
  samples_say(std::move(samples));
  EXPECT_EQ(missing(), "MetricsUnreachable: does not answer");
  EXPECT_THAT(status()["conditions"].dump(), Not(HasSubstr("\"Stalled\"")));
}

}  // namespace
}  // namespace berth::test
