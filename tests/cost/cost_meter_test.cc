// SPDX-License-Identifier: Apache-2.0
// The costs that a leader writes down, and how it reads the stored ones.
#include "controller/cost/cost_meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "tests/observe/measured.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using cost::Micros;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr Micros kHour = cost::kSecondsOfHour * 1'000'000;  // a unit of money in the ledger

class Meter : public ::testing::Test {
 protected:
  Meter() {
    price("2");
    world_.cluster.upsert<Node>(node("n1").a100_80(4).allocatable("nvidia.com/gpu", 4), world_.now);
    world_.run(pod("p").gpu(1).on("n1"));
  }
  void price(const std::string& per_gpu) {
    GPUClusterPolicy policy = world_.policy();
    policy.spec.pools[0].price.reset();
    if (!per_gpu.empty()) policy.spec.pools[0].price = PriceSpec{per_gpu, "USD"};
    world_.cluster.upsert(std::move(policy), world_.now);
  }
  Plan look(Duration later = 0s) {
    world_.now += later;
    return meter_.reconcile(world_.snapshot());
  }
  // Applies the plan as the API server would.
  void write(const Plan& plan) {
    ASSERT_THAT(plan.objects, SizeIs(1));
    const Write& write = std::get<Write>(plan.objects[0].steps[0]);
    ConfigMap stands;
    if (const ConfigMap* before = find()) stands = *before;
    stands.meta.namespace_ = world_.settings.berth_namespace;
    stands.meta.name = names::kCostsConfigMap;
    stands.meta.uid = "uid-costs";
    stands.meta.resource_version = std::to_string(++version_);
    const json body = json::parse(write.body);
    for (const auto& [key, text] : body["data"].items())
      if (text.is_null())
        stands.data.erase(key);
      else
        stands.data[key] = text;
    world_.cluster.upsert(std::move(stands), world_.now);
  }
  const ConfigMap* find() {
    return world_.cluster.config_maps().find(world_.settings.berth_namespace,
                                             names::kCostsConfigMap);
  }
  // The pool's stored sum in units of money.
  double spent() {
    const cost::CostLedger ledger = costs_in(world_.cluster, world_.settings);
    double sum = 0;
    for (const auto& [day, currencies] : ledger.days)
      sum += static_cast<double>(currencies.at("USD").pools.at("all").total()) / kHour;
    return sum;
  }

  Measured world_;
  CostMeter meter_;
  int version_ = 0;
};

TEST_F(Meter, LooksEveryTenSecondsAndWritesOnceAMinute) {
  write(look());
  int writes = 0;
  for (int i = 0; i < 360; ++i) {
    const Plan plan = look(10s);
    EXPECT_EQ(plan.requeue_after, 10s);
    if (plan.objects.empty()) continue;
    ++writes;
    write(plan);
  }
  EXPECT_EQ(writes, 60);
  EXPECT_DOUBLE_EQ(spent(), 8) << "four GPUs for an hour at 2";
}

TEST_F(Meter, ASuccessorGoesOnFromWhatStands) {
  write(look());
  write(look(1h));
  meter_ = CostMeter();
  look(5min);
  write(look(1min));
  EXPECT_DOUBLE_EQ(spent(), 8 * 66 / 60.0);
  meter_ = CostMeter();
  look(2h);
  write(look(1min));
  EXPECT_DOUBLE_EQ(spent(), 8 * 67 / 60.0) << "of two hours nobody knows what ran";
}

TEST_F(Meter, WhatAPersonWritesIsWhereItGoesOnFrom) {
  write(look());
  write(look(1h));
  ConfigMap edited = *find();
  edited.data.erase("day-" + format_time(world_.now).substr(0, 10));
  world_.cluster.upsert(std::move(edited), world_.now);
  look();
  write(look(1min));
  EXPECT_DOUBLE_EQ(spent(), 8 / 60.0);
  ConfigMap broken = *find();
  broken.data = {{"checkpoint", "soon"},
                 {"day-2026-09-21", "[1]"},
                 {"month-2026-09", "{\"USD\":{\"pools\":{\"all\":[-1]}}}"}};
  world_.cluster.upsert(std::move(broken), world_.now);
  write(look());
  write(look(1h));
  EXPECT_DOUBLE_EQ(spent(), 8);
}

// Written by a user, or with a wrong clock.
TEST_F(Meter, ACheckpointThatIsYetToComeStopsNothing) {
  write(look());
  ConfigMap edited = *find();
  edited.data["checkpoint"] = "2099-01-01T00:00:00Z";
  world_.cluster.upsert(std::move(edited), world_.now);
  look();
  look(30min);
  write(look(30min));
  EXPECT_DOUBLE_EQ(spent(), 8);
}

TEST_F(Meter, WritesDownTheMostThatAnOwnerHadInUseAndAtWork) {
  std::vector<GpuHolder> holders{{"team-a", "p"}};
  const auto use = [&](float mib, float activity) {
    GpuSample gpu{.uuid = "GPU-0", .index = "0", .holders = holders};
    gpu.activity = activity;
    gpu.memory_mib = mib;
    gpu.seen = world_.now;
    world_.samples.nodes["n1"] = {gpu};
    look();
    world_.now += 10s;
  };
  const auto stands = [&] {
    return costs_in(world_.cluster, world_.settings).days.begin()->second.at("USD");
  };
  look();
  use(20'000, 0);
  write(look(1min));
  EXPECT_THAT(stands().peaks, ElementsAre(Pair("team-a/ReplicaSet/rs", 0))) << "measured, too";
  use(31'000, 0.3f);
  use(500, 0.301f);
  use(400, 0.1f);
  // What two owners hold together, neither holds alone.
  holders.push_back({"team-b", "q"});
  use(70'000, 1);
  write(look(1min));
  EXPECT_THAT(stands().memory, ElementsAre(Pair("team-a/ReplicaSet/rs", 31'000)));
  EXPECT_THAT(stands().peaks, ElementsAre(Pair("team-a/ReplicaSet/rs", 31)));
}

TEST_F(Meter, WithoutAPriceNothingIsWritten) {
  price("");
  EXPECT_TRUE(look().empty());
  EXPECT_FALSE(look().requeue_after);
  price("2");
  write(look());
  price("");
  EXPECT_TRUE(look(1h).empty());
  price("2");
  write(look(1h));
  EXPECT_DOUBLE_EQ(spent(), 0) << "what had no price cost nothing";
}

TEST_F(Meter, AChangedPriceHoldsFromThenOn) {
  write(look());
  look(30min);
  price("4");
  look();
  write(look(30min));
  EXPECT_DOUBLE_EQ(spent(), 4 + 8);
}

// After a user's edit: invalid numbers are left out, and the rest counts.
TEST(CostLedger, KeepsOfADayWhatCanBeRead) {
  const cost::CostLedger ledger = cost::read_costs(
      {{"day-2026-09-21",
        R"({"USD":{"memory":{"a":"x","b":0,"c":5,"d":1.5},"peaks":{"a":-1,"b":0},"owners":7,
                   "pools":{"p":["x"],"q":7}},
            "EUR":7,"GBP":{"memory":7,"peaks":[1]}})"},
       {"day-2026-09-22", "7"},
       {"checkpoint", "2026-09-22T00:00:00Z"}});
  ASSERT_TRUE(ledger.days.contains("2026-09-21"));
  const cost::SpendingsByCurrency& day = ledger.days.at("2026-09-21");
  ASSERT_TRUE(day.contains("USD"));
  EXPECT_THAT(day.at("USD").memory, ElementsAre(Pair("c", 5))) << "whatever runs has some of it";
  EXPECT_THAT(day.at("USD").peaks, ElementsAre(Pair("b", 0))) << "that it did nothing is known";
  EXPECT_TRUE(day.at("USD").owners.empty());
  EXPECT_TRUE(day.at("USD").pools.empty());
  EXPECT_FALSE(day.contains("EUR"));
  EXPECT_FALSE(day.contains("GBP"));
  EXPECT_EQ(ledger.at, parse_time("2026-09-22T00:00:00Z").value());
}

// The peaks of an owner are dropped together with its own sum.
TEST(CostLedger, OfWhoBecomesOneOfTheOthersNothingElseIsKept) {
  cost::SpendingsByCurrency hourly;
  for (int i = 0; i < 150; ++i) {
    const std::string owner = "team-" + std::to_string(i) + "/Deployment/web";
    hourly["USD"].owners[owner].add({.used = 1 + i});
    hourly["USD"].memory[owner] = 20'000;
  }
  cost::CostLedger ledger;
  const Time start{std::chrono::hours(500'000)};
  cost::spend_until(start, hourly, ledger);
  cost::spend_until(start + 1h, hourly, ledger);
  cost::encode_costs(ledger);
  const cost::MostByName& memory = ledger.days.begin()->second.at("USD").memory;
  EXPECT_EQ(memory.size(), cost::kMaxNames - 1);
  EXPECT_FALSE(memory.contains("team-0/Deployment/web"));
  EXPECT_TRUE(memory.contains("team-149/Deployment/web"));
}

TEST(CostLedger, IsBoundedHoweverManyOwnersThereAre) {
  cost::SpendingsByCurrency hourly;
  for (int i = 0; i < 5'000; ++i)
    hourly["USD"].owners["team-" + std::to_string(i) + "/Deployment/" + std::string(60, 'x')].add(
        {.used = 1'000 + i});
  cost::CostLedger ledger;
  Time now{std::chrono::hours(500'000)};
  for (int day = 0; day < 60; ++day, now += 24h) {
    cost::spend_until(now, hourly, ledger);
    std::size_t bytes = 0;
    for (const auto& [key, text] : cost::encode_costs(ledger)) bytes += key.size() + text.size();
    ASSERT_LE(bytes, cost::kMaxBytes);
  }
  EXPECT_GE(ledger.days.size(), 20u);
  EXPECT_EQ(ledger.days.begin()->second.at("USD").owners.size(), cost::kMaxNames);
  cost::Spending sum;
  for (const auto& [name, spending] : ledger.days.begin()->second.at("USD").owners)
    sum.add(spending);
  Micros all = 0;
  for (int i = 0; i < 5'000; ++i) all += 1'000 + i;
  EXPECT_EQ(sum.total() % all, 0) << "nothing is lost to the bound";
}

}  // namespace
}  // namespace berth::test
