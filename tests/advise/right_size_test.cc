// SPDX-License-Identifier: Apache-2.0
// The advice for owners, by the cost ledger; and with it, all workloads of the README fit.
#include "controller/advise/right_size.h"

#include <gtest/gtest.h>

#include <map>

#include "apis/base/names.h"
#include "controller/cost/cost_meter.h"
#include "controller/cost/fleet_cost.h"
#include "controller/fleet/geometry.h"
#include "tests/cost/written_costs.h"
#include "tests/support/builders.h"

namespace berth::advise {
namespace {

using test::node;
using test::pod;

class RightSize : public ::testing::Test {
 protected:
  RightSize() {
    policy_.meta.name = limits::kPolicyName;
    PoolSpec& pool = policy_.spec.pools.emplace_back();
    pool.name = "all";
    pool.price = PriceSpec{"3.06", "USD"};
  }
  void nodes(int count) {
    for (int i = 0; i < count; ++i)
      cluster_.upsert<Node>(node("node-" + std::to_string(i)).a100_80(4), now_);
  }
  // Pods of one owner on consecutive GPUs, with this utilization in percent.
  void run(const std::string& team, const std::string& owner, int pods, int each, int percent) {
    for (int i = 0; i < pods; ++i, given_ += each) {
      Pod made = pod(owner + "-" + std::to_string(given_))
                     .gpu(each)
                     .in(team)
                     .owner("StatefulSet", owner)
                     .on("node-" + std::to_string(given_ / 4));
      cluster_.upsert(std::move(made), now_);
    }
    shares_[team + "/StatefulSet/" + owner] = percent;
  }
  // The ledger after all of them have run so for this time.
  void count(std::chrono::hours hours) {
    cost::SpendingsByCurrency hourly = cost::hourly_cost(snapshot(), policy_);
    for (auto& [owner, spending] : hourly["USD"].owners) {
      const cost::Micros total = spending.total();
      spending = {.used = total * shares_[owner] / 100};
      spending.idle = total - spending.used;
    }
    hourly["USD"].memory = memory_;
    hourly["USD"].peaks = peaks_;
    cost::CostLedger ledger;
    cost::spend_until(now_ - hours, {}, ledger);
    cost::spend_until(now_, hourly, ledger);
    cluster_.upsert(test::written_costs(ledger, settings_), now_);
  }
  Snapshot snapshot() const { return {cluster_, answers_, settings_, now_}; }
  OwnerAdvice of(const std::string& owner) const {
    for (const OwnerAdvice& advice : advise_owners(snapshot(), policy_))
      if (advice.owner == owner) return advice;
    ADD_FAILURE() << owner << " is not advised";
    return {};
  }

  Time now_ = parse_time("2026-11-25T12:00:00Z").value();
  GPUClusterPolicy policy_;
  ClusterState cluster_;
  Answers answers_;
  Settings settings_;
  std::map<std::string, int> shares_;
  cost::MostByName memory_, peaks_;
  int given_ = 0;
};

// Whole A100s for all pods of an owner, partitioned only into its advised profile.
std::int64_t gpus_for(const OwnerAdvice& advice) {
  constexpr std::string_view kMig = "nvidia.com/mig-";
  if (!advice.instead.starts_with(kMig)) return advice.pods * advice.instead_each;
  const Profile* profile =
      find_product_by_model("A100-80GB")->find_profile(advice.instead.substr(kMig.size()));
  return (advice.pods + profile->max_count - 1) / profile->max_count;
}

TEST_F(RightSize, AfterItAllOfTheHeadlineRuns) {
  nodes(9);  // 36 GPUs requested, of 32 existing ones
  for (int i = 0; i < 4; ++i) run("training", "train-" + std::to_string(i), 1, 4, 84);
  run("serving", "infer", 12, 1, 15);
  run("research", "notebook", 8, 1, 5);
  count(std::chrono::hours(240));

  std::int64_t gpus = 0;
  cost::Micros saved = 0;
  for (const OwnerAdvice& advice : advise_owners(snapshot(), policy_)) {
    gpus += gpus_for(advice);
    saved += advice.month;
  }
  EXPECT_EQ(gpus, 16 + 6 + 2) << "of 32";
  EXPECT_EQ(of("training/StatefulSet/train-0").verdict, Verdict::kKeep);
  const OwnerAdvice infer = of("serving/StatefulSet/infer");
  EXPECT_EQ(infer.instead, "nvidia.com/mig-3g.40gb");
  EXPECT_EQ(infer.profile, "3g.40gb");
  EXPECT_EQ(infer.memory_gb, 40);
  EXPECT_EQ(infer.used, 15);
  EXPECT_EQ(of("research/StatefulSet/notebook").instead, "nvidia.com/mig-1g.10gb");
  // Half of twelve GPUs, seven eighths of eight.
  EXPECT_EQ(cost::format_money(saved, 2), "29039.40");
}

TEST_F(RightSize, FewerGpusHaveRoomForTwiceTheMean) {
  nodes(2);
  run("a", "quiet", 1, 4, 20);
  run("a", "half", 1, 4, 50);
  count(std::chrono::hours(48));
  const OwnerAdvice quiet = of("a/StatefulSet/quiet");
  EXPECT_EQ(quiet.verdict, Verdict::kFewerGpus);
  EXPECT_EQ(quiet.instead_each, 2);
  EXPECT_EQ(quiet.part, 50);
  EXPECT_EQ(quiet.currency, "USD");
  EXPECT_EQ(of("a/StatefulSet/half").instead, "nvidia.com/gpu");
  EXPECT_EQ(of("a/StatefulSet/half").instead_each, 4);
  EXPECT_EQ(cost::format_money(quiet.month, 2), "4467.60");  // two at 2,233.80
  EXPECT_EQ(of("a/StatefulSet/half").verdict, Verdict::kKeep);
}

TEST_F(RightSize, WhatItHadInMemoryHasToFit) {
  nodes(3);
  run("a", "small", 1, 1, 5);
  run("a", "large", 1, 1, 5);
  run("a", "huge", 1, 1, 5);
  given_ = 4;
  run("a", "spread", 1, 4, 5);
  memory_ = {{"a/StatefulSet/small", 9 * 1024},
             {"a/StatefulSet/large", 9 * 1024 + 300},
             {"a/StatefulSet/huge", 70 * 1024},
             {"a/StatefulSet/spread", 40 * 1024}};
  count(std::chrono::hours(48));
  EXPECT_EQ(of("a/StatefulSet/small").instead, "nvidia.com/mig-1g.10gb") << "nine tenths of it";
  EXPECT_EQ(of("a/StatefulSet/small").memory_mib, 9 * 1024);
  EXPECT_EQ(of("a/StatefulSet/large").instead, "nvidia.com/mig-1g.20gb");
  EXPECT_EQ(of("a/StatefulSet/huge").verdict, Verdict::kKeep);
  EXPECT_EQ(of("a/StatefulSet/spread").instead_each, 3) << "160 GiB on GPUs of 72";
}

// It requests a whole GPU and always utilizes 40 %: nothing smaller holds twice that.
TEST_F(RightSize, APeakBelowTwiceTheMeanIsRoomEnough) {
  nodes(2);
  run("a", "steady", 1, 1, 40);
  run("a", "bursts", 1, 1, 15);
  given_ = 4;
  run("a", "spread", 1, 4, 40);
  count(std::chrono::hours(48));
  EXPECT_EQ(of("a/StatefulSet/steady").verdict, Verdict::kKeep) << "its peak is not known";
  memory_ = {{"a/StatefulSet/bursts", 20 * 1024}};
  peaks_ = {
      {"a/StatefulSet/steady", 45}, {"a/StatefulSet/bursts", 90}, {"a/StatefulSet/spread", 50}};
  count(std::chrono::hours(48));
  const OwnerAdvice steady = of("a/StatefulSet/steady");
  EXPECT_EQ(steady.instead, "nvidia.com/mig-4g.40gb") << "four sevenths";
  EXPECT_EQ(steady.peak, 45);
  EXPECT_EQ(provided(steady), ", if 40 GB suffice");
  const OwnerAdvice spread = of("a/StatefulSet/spread");
  EXPECT_EQ(spread.instead_each, 2) << "the peak of each, were it of all four at once";
  const OwnerAdvice bursts = of("a/StatefulSet/bursts");
  EXPECT_EQ(bursts.instead, "nvidia.com/mig-3g.40gb") << "twice the mean";
  EXPECT_EQ(provided(bursts), ", if bursts to 90% may take longer");
}

// Days before berth recorded peaks, or when the owner was among the others.
TEST_F(RightSize, APeakThatADayHidesIsNone) {
  nodes(1);
  run("a", "steady", 1, 1, 40);
  peaks_ = {{"a/StatefulSet/steady", 45}};
  count(std::chrono::hours(48));
  EXPECT_EQ(of("a/StatefulSet/steady").peak, 45);
  const auto edit = [&](const char* from, const char* to) {
    ConfigMap costs =
        *cluster_.config_maps().find(settings_.berth_namespace, names::kCostsConfigMap);
    std::string day = costs.data.at("day-2026-11-24");
    const std::size_t at = day.find(from);
    ASSERT_NE(at, std::string::npos) << day;
    costs.data["day-2026-11-24"] = day.replace(at, std::string_view(from).size(), to);
    cluster_.upsert(std::move(costs), now_);
  };
  edit(R"("peaks")", R"("other")");
  EXPECT_FALSE(of("a/StatefulSet/steady").peak);
  count(std::chrono::hours(48));
  edit(R"("owners":{"a/StatefulSet/steady")", R"x("owners":{"(others)")x");
  edit(R"("peaks":{"a/StatefulSet/steady")", R"("peaks":{"b")");
  EXPECT_FALSE(of("a/StatefulSet/steady").peak);
}

TEST_F(RightSize, NothingIsSaidOfWhatWasHardlyMeasured) {
  nodes(1);
  run("a", "new", 1, 1, 0);
  EXPECT_EQ(of("a/StatefulSet/new").verdict, Verdict::kTooLittle);
  EXPECT_FALSE(of("a/StatefulSet/new").used);
  count(std::chrono::hours(23));
  EXPECT_EQ(of("a/StatefulSet/new").verdict, Verdict::kTooLittle);
  count(std::chrono::hours(24));
  EXPECT_EQ(of("a/StatefulSet/new").verdict, Verdict::kProfile);
}

TEST_F(RightSize, OwnersOfDifferentPodsAndOfSharesAreLeftAlone) {
  nodes(2);
  run("a", "mixed", 1, 1, 5);
  run("a", "mixed", 1, 2, 5);
  given_ = 4;
  run("a", "shares", 1, 1, 5);
  cluster_.upsert<Node>(node("node-1")
                            .a100_80(4)
                            .label("nvidia.com/gpu.replicas", "4")
                            .label("nvidia.com/gpu.sharing-strategy", "time-slicing"),
                        now_);
  count(std::chrono::hours(48));
  EXPECT_EQ(of("a/StatefulSet/mixed").verdict, Verdict::kMixed);
  EXPECT_EQ(of("a/StatefulSet/shares").verdict, Verdict::kMixed);
  EXPECT_EQ(of("a/StatefulSet/shares").month, 0);
}

TEST(RightSizeTerms, AreWhatHasToHoldBesides) {
  OwnerAdvice advice;
  EXPECT_EQ(provided(advice), "");
  advice.part = 50;
  advice.peak = 50;
  EXPECT_EQ(provided(advice), "") << "which it has room for";
  advice.memory_gb = 40;
  advice.peak = 51;
  EXPECT_EQ(provided(advice), ", if 40 GB suffice, and bursts to 51% may take longer");
  advice.memory_mib = 1;
  EXPECT_EQ(provided(advice), ", if bursts to 51% may take longer") << "what it takes is known";
}

TEST_F(RightSize, WithoutAPriceThereIsNothingToAdvise) {
  nodes(1);
  run("a", "x", 1, 1, 5);
  policy_.spec.pools[0].price.reset();
  EXPECT_TRUE(advise_owners(snapshot(), policy_).empty());
}

TEST_F(RightSize, AdvisesASharedGpuOnlyWhenAskedAndOnlyToWhomItIsOpen) {
  nodes(2);
  run("lab", "notes", 4, 1, 5);
  run("web", "chat", 4, 1, 40);
  count(std::chrono::hours(48));
  PoolSpec& shared = policy_.spec.pools.emplace_back();
  shared.name = "development";
  shared.sharing = {.strategy = SharingStrategy::kTimeSlicing,
                    .replicas = 10,
                    .resources = {},
                    .rename_by_default = true,
                    .fail_requests_greater_than_one = {}};
  shared.node_selector.match_labels = {{"tier", "development"}};
  EXPECT_EQ(of("lab/StatefulSet/notes").verdict, Verdict::kProfile);
  const auto may_share = [&](const std::string& owner) {
    for (const OwnerAdvice& advice : advise_owners(snapshot(), policy_, Isolation::kMayWeaken))
      if (advice.owner == owner) return advice;
    return OwnerAdvice{};
  };
  const OwnerAdvice notes = may_share("lab/StatefulSet/notes");
  EXPECT_EQ(notes.verdict, Verdict::kShare);
  EXPECT_EQ(notes.instead, "nvidia.com/gpu.shared");
  EXPECT_EQ(notes.pool, "development, TimeSlicing by 10");
  EXPECT_EQ(notes.profile, "");
  EXPECT_EQ(notes.month, 4 * 3'060'000LL * cost::kHoursOfMonth / 10 * 9);
  EXPECT_NE(may_share("web/StatefulSet/chat").verdict, Verdict::kShare);  // 80 of 100
  memory_ = {{"lab/StatefulSet/notes", 8 * 1024}};
  count(std::chrono::hours(48));
  EXPECT_EQ(may_share("lab/StatefulSet/notes").verdict, Verdict::kProfile)
      << "a tenth of the GPU's memory is less";
  memory_.clear();
  count(std::chrono::hours(48));
  shared.eligible_namespaces.emplace().match_labels = {{"team", "lab"}};
  EXPECT_EQ(may_share("lab/StatefulSet/notes").verdict, Verdict::kProfile);
}

// No owner loses isolation without a saving.
TEST_F(RightSize, AdvisesASharedGpuOnlyWhereItSavesMoreThanAPart) {
  nodes(1);
  run("lab", "notes", 2, 1, 5);
  count(std::chrono::hours(48));
  PoolSpec& shared = policy_.spec.pools.emplace_back();
  shared.name = "development";
  shared.sharing.strategy = SharingStrategy::kTimeSlicing;
  shared.node_selector.match_labels = {{"tier", "development"}};
  const auto advised = [&](std::int32_t replicas) {
    shared.sharing.replicas = replicas;
    return advise_owners(snapshot(), policy_, Isolation::kMayWeaken).at(0);
  };
  const OwnerAdvice eighth = advised(8);
  EXPECT_EQ(eighth.verdict, Verdict::kProfile) << "1g.10gb costs an eighth as well";
  EXPECT_EQ(eighth.instead, "nvidia.com/mig-1g.10gb");
  EXPECT_EQ(eighth.pool, "");
  EXPECT_EQ(advised(9).verdict, Verdict::kShare);
}

}  // namespace
}  // namespace berth::advise
