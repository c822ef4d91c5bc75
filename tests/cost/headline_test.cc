// SPDX-License-Identifier: Apache-2.0
// The case in the README: 36 GPUs requested of 32 that cost 71,482 $ a month, of which about 37,000
// $ are wasted.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/cost/fleet_cost.h"
#include "controller/observe/gpu_use.h"
#include "tests/observe/measured.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;

class Headline : public ::testing::Test {
 protected:
  Headline() {
    GPUClusterPolicy policy = measured_.policy();
    policy.spec.pools[0].price = PriceSpec{"3.06", "USD"};
    measured_.cluster.upsert(std::move(policy), measured_.now);
    measured_.cluster.erase<Node>("", "n1");
    for (int i = 0; i < 8; ++i)
      measured_.cluster.upsert<Node>(
          node("node-" + std::to_string(i)).a100_80(4).allocatable("nvidia.com/gpu", 4),
          measured_.now);
    for (int i = 0; i < 4; ++i) run("train-" + std::to_string(i), 4, 84, "training");
    for (int i = 0; i < 12; ++i) run("infer-" + std::to_string(i), 1, 15, "serving");
    for (int i = 0; i < 4; ++i) run("notebook-" + std::to_string(i), 1, 5, "research");
    for (int i = 4; i < 8; ++i)
      measured_.run(pod("notebook-" + std::to_string(i)).gpu(1).in("research"));
    measured_.look(text_);
  }
  void run(const std::string& name, int gpus, int percent, const std::string& team) {
    const std::string on = "node-" + std::to_string(given_ / 4);
    measured_.run(pod(name).gpu(gpus).in(team).on(on));
    for (int i = 0; i < gpus; ++i, ++given_)
      text_ += fmt::format(
          "DCGM_FI_DEV_GPU_UTIL{{gpu=\"{}\",UUID=\"GPU-{}\",Hostname=\"{}\",namespace=\"{}\",pod=\""
          "{}\"}} {}\n",
          given_ % 4, given_, on, team, name, percent);
  }
  cost::Spendings monthly() {
    cost::Spendings sums;
    const cost::SpendingsByCurrency hourly =
        cost::hourly_cost(measured_.snapshot(), measured_.policy());
    sums.add(hourly.at("USD"), cost::kHoursOfMonth);
    return sums;
  }
  Measured measured_;
  std::string text_;
  int given_ = 0;
};

TEST_F(Headline, ThirtyTwoGpusCostWhatTheBillSays) {
  const cost::Spending pool = monthly().pools.at("all");
  EXPECT_EQ(cost::format_money(pool.total(), 0), "71482");
  EXPECT_EQ(cost::format_money(pool.used, 0), "34490");  // 48.25 %
  EXPECT_EQ(cost::format_money(pool.waste(), 0), "36992");
  EXPECT_EQ(pool.unmeasured + pool.free + pool.lost + pool.fragments, 0);
  EXPECT_EQ(survey_use(measured_.snapshot(), measured_.policy()).total.percent(), 48);
}

TEST_F(Headline, WhatAPodHoldsHasItsPrice) {
  const auto told = [&](const char* team, const char* name) {
    return cost::monthly_price(measured_.snapshot(), *measured_.cluster.pods().find(team, name));
  };
  EXPECT_EQ(told("training", "train-0"), "8935 USD");  // four at 2,233.80
  EXPECT_EQ(told("serving", "infer-0"), "2234 USD");
  EXPECT_EQ(told("research", "notebook-7"), "") << "it waits, and holds nothing";
}

TEST_F(Headline, WhoseItIsAddsUpToTheSame) {
  const cost::Spendings month = monthly();
  cost::Spending sum;
  for (const auto& [name, spending] : month.namespaces) sum.add(spending);
  EXPECT_EQ(sum, month.pools.at("all"));
  EXPECT_EQ(cost::format_money(month.namespaces.at("serving").idle, 0), "22785");
  EXPECT_EQ(cost::format_money(month.namespaces.at("research").idle, 0), "8488");
}

}  // namespace
}  // namespace berth::test
