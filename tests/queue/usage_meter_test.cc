// SPDX-License-Identifier: Apache-2.0
// berth stores the use once a minute, in few bytes, and the next leader continues from there.
#include "controller/queue/status/usage_meter.h"

#include <fmt/format.h>

#include "controller/queue/budget/budget_standing.h"
#include "controller/queue/cycle/queue_report.h"
#include "controller/queue/index/cluster_index.h"
#include "controller/queue/status/budget_figures.h"
#include "controller/queue/status/reconcile.h"
#include "tests/queue/admissions_fixture.h"

namespace berth::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

constexpr std::int64_t kHour = std::int64_t{3600} * 1'000'000;

class UsageMeterTest : public AdmissionsTest {
 protected:
  UsageMeterTest() { now = parse_time("2026-11-25T10:00:00Z").value(); }
  berth::Job running(const std::string& name, int gpus) {
    berth::Job job = queue::job_of("a", name, gpus);
    job.suspended = false;
    const AdmissionFact fact{.uid = name,
                             .queue = "vision",
                             .cohort = "research",
                             .pool = "training",
                             .amounts = {{"nvidia.com/gpu", gpus}},
                             .since = now.time_since_epoch().count()};
    job.meta.annotations.set(names::kAdmittedAnnotation, encode_admission(fact));
    return job;
  }
  void budget(const std::string& hours, WhenExceeded when,
              BudgetPeriod period = BudgetPeriod::kDay) {
    GPUQueue queue = queue_of("vision", 16);
    queue.spec.budget = BudgetSpec{parse_thousandths(hours), period, "UTC", when};
    add(queue);
  }
  // Carries out the meter's plan; returns whether it wrote.
  bool look(UsageMeter& meter) {
    const Plan plan = meter.reconcile(snapshot());
    next = plan.requeue_after;
    if (plan.objects.empty()) return false;
    const Write& write = std::get<Write>(plan.objects.at(0).steps.at(0));
    nlohmann::json object = {{"metadata", {{"uid", "usage"}}}};
    if (const ConfigMap* standing = stands()) {
      EXPECT_THAT(write.body,
                  HasSubstr("\"resourceVersion\":\"" + standing->meta.resource_version));
      object["data"] = standing->data;
    }
    object.merge_patch(nlohmann::json::parse(write.body));
    object["metadata"]["name"] = names::kUsageConfigMap;
    object["metadata"]["namespace"] = settings.berth_namespace;
    std::string text = object.dump();
    add(*decode_object<ConfigMap>(text));
    return true;
  }
  const ConfigMap* stands() const {
    return cluster.config_maps().find(settings.berth_namespace, names::kUsageConfigMap);
  }
  std::int64_t used() const {
    const GpuHours& hours = gpu_hours_in(cluster, settings);
    const auto day = hours.days.find("2026-11-25");
    return day == hours.days.end() ? 0 : day->second.at("vision").at("a");
  }
  std::string why(const std::string& workload) const {
    const FactsIndex& facts = cluster.view<ClusterIndex>().facts();
    const Survey survey(facts, 10);
    return describe(survey.outcome(*facts.find(workload)), facts.catalog());
  }
  std::string conditions() const {
    std::string told;
    for (const StatusUpdate& status : reconcile_queues(snapshot()).statuses) told += status.body;
    return told;
  }

  std::optional<Duration> next;
};

TEST_F(UsageMeterTest, NothingIsWrittenWhileNothingIsUsed) {
  UsageMeter meter;
  EXPECT_FALSE(look(meter));
  EXPECT_FALSE(next) << "nothing comes of waiting";
  add(queue::job_of("a", "waits", 8));
  now += 1h;
  EXPECT_FALSE(look(meter));
}

TEST_F(UsageMeterTest, WhatIsUsedIsWrittenOnceAMinute) {
  UsageMeter meter;
  look(meter);
  add(running("train", 8));
  look(meter);
  int writes = 0;
  for (int second = 0; second < 3600; ++second) {
    now += 1s;
    writes += look(meter) ? 1 : 0;
  }
  EXPECT_EQ(writes, 60);
  now += 1min;
  look(meter);
  EXPECT_GE(used(), 8 * kHour);
  EXPECT_LE(used(), 8 * kHour + 8 * 60 * 1'000'000);
}

TEST_F(UsageMeterTest, WorkOfLessThanAMinuteCountsToTheSecond) {
  UsageMeter meter;
  look(meter);
  now += 1s;
  for (int job = 0; job < 30; ++job) {
    add(running("short", 4));
    now += 1s, look(meter);
    now += 19s;
    cluster.erase<berth::Job>("a", "short");
    look(meter);
    now += 7s;
  }
  now += 1min, look(meter);
  EXPECT_EQ(used(), 30 * 4 * std::int64_t{20'000'000});
}

TEST_F(UsageMeterTest, WhoeverComesNextGoesOnFromTheCheckpoint) {
  UsageMeter first;
  look(first);
  add(running("train", 8));
  look(first);
  for (int minute = 0; minute < 10; ++minute) now += 1min, look(first);
  // It is killed between two checkpoints, and another leader starts two minutes later.
  now += 30s, look(first);
  now += 2min;
  UsageMeter second;
  EXPECT_TRUE(look(second));
  EXPECT_EQ(used(), 8 * std::int64_t{750'000'000});
  now += 1min, look(second);
  EXPECT_EQ(used(), 8 * std::int64_t{810'000'000});
}

TEST_F(UsageMeterTest, WhatSomebodyElseHasWrittenIsGoneOnFrom) {
  UsageMeter meter;
  look(meter);
  add(running("train", 8));
  look(meter);
  for (int minute = 0; minute < 3; ++minute) now += 1min, look(meter);
  ConfigMap edited = *stands();
  edited.data["day-2026-11-25"] = R"({"vision":{"a":7}})";
  add(edited);
  now += 1min, look(meter);
  EXPECT_EQ(used(), 7 + 8 * std::int64_t{60'000'000});
  edited.data["checkpoint"] = "no JSON";
  edited.data["day-2026-11-25"] = "[]";
  add(edited);
  now += 1min, look(meter);
  now += 2min, look(meter);
  EXPECT_EQ(used(), 8 * std::int64_t{120'000'000}) << "what can't be read counts as not there";
}

TEST_F(UsageMeterTest, AQuotaOfTheClassAndOneOfPiecesUseTheSame) {
  Node node = node_of("m1", 0);
  node.meta.labels.set("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB");
  node.allocatable.set("nvidia.com/mig-1g.10gb", Quantity::whole(56));
  add(node);
  UsageMeter meter;
  look(meter);
  berth::Job job = running("small", 1);
  AdmissionFact fact = *admission_on(job.meta);
  fact.amounts = {{"nvidia.com/mig-1g.10gb", 4}};
  job.meta.annotations.set(names::kAdmittedAnnotation, encode_admission(fact));
  add(job);
  look(meter);
  now += 1min, look(meter);
  EXPECT_EQ(used(), std::int64_t{30'000'000}) << "four eighths of a GPU";
  fact.amounts = {{"gpu", 500'000}, {"nvidia.com/mig-1g.10gb", 4}};
  job.meta.annotations.set(names::kAdmittedAnnotation, encode_admission(fact));
  add(job);
  look(meter);
  now += 1min, look(meter);
  EXPECT_EQ(used(), std::int64_t{60'000'000});
}

TEST_F(UsageMeterTest, ABudgetThatIsUsedUpHoldsWhatWaitsUntilItsPeriodEnds) {
  budget("1", WhenExceeded::kHold);
  UsageMeter meter;
  look(meter);
  add(running("train", 8));
  look(meter);
  add(queue::job_of("a", "next", 8));
  EXPECT_THAT(why("Job/a/next"), HasSubstr("suffice"));
  for (int minute = 0; minute < 8; ++minute) now += 1min, look(meter);
  EXPECT_EQ(why("Job/a/next"),
            "the queue has used the 1 GPU hours of its budget; the next period begins "
            "2026-11-26T00:00:00Z");
  EXPECT_THAT(conditions(), HasSubstr("BudgetExceeded"));
  EXPECT_THAT(conditions(), HasSubstr("\"remainingGPUHours\":\"0\""));
  cluster.erase<berth::Job>("a", "train");
  look(meter);
  now += 1min, look(meter);
  EXPECT_EQ(next, std::chrono::ceil<Duration>(*parse_time("2026-11-26T00:00:00Z") - now));
  now += *next;
  EXPECT_TRUE(look(meter));
  EXPECT_THAT(why("Job/a/next"), HasSubstr("suffice"));
}

TEST_F(UsageMeterTest, ABudgetThatWarnsHoldsNobody) {
  budget("0.5", WhenExceeded::kWarn);
  UsageMeter meter;
  look(meter);
  add(running("train", 8));
  look(meter);
  add(queue::job_of("a", "next", 8));
  for (int minute = 0; minute < 8; ++minute) now += 1min, look(meter);
  EXPECT_THAT(conditions(), HasSubstr("whenExceeded: Hold would"));
  EXPECT_THAT(why("Job/a/next"), HasSubstr("suffice"));
  EXPECT_THAT(budget_figures(cluster, settings), SizeIs(2));
}

TEST_F(UsageMeterTest, ARaisedBudgetLetsGoOnAtOnce) {
  budget("0.1", WhenExceeded::kHold);
  UsageMeter meter;
  look(meter);
  add(running("train", 8));
  look(meter);
  add(queue::job_of("a", "next", 8));
  for (int minute = 0; minute < 2; ++minute) now += 1min, look(meter);
  EXPECT_THAT(why("Job/a/next"), HasSubstr("budget"));
  budget("10", WhenExceeded::kHold);
  EXPECT_THAT(why("Job/a/next"), HasSubstr("suffice"));
}

TEST(UsageLedger, IsReadAsItWasWritten) {
  GpuHours hours;
  hours.at = parse_time("2026-11-25T10:00:00Z").value();
  hours.days["2026-11-25"]["nlp"]["a"] = 12;
  hours.months["2026-11"]["nlp"]["a"] = 34;
  hours.pools.days["2026-11-25"]["training"] = 12;
  hours.pools.months["2026-11"]["*"] = 34;
  hours.budgets["nlp"] = {period_at(BudgetPeriod::kMonth, *utc_only().find("UTC"), *hours.at), 56};
  EXPECT_EQ(read_usage(encode_usage(hours)), hours);
}

TEST(UsageLedger, StaysWithinItsBytesAndGivesUpTheOldestFirst) {
  GpuHours hours;
  hours.at = parse_time("2026-11-25T10:00:00Z").value();
  for (int queue = 0; queue < 3; ++queue)
    for (int i = 0; i < 300; ++i) {
      const std::string of = fmt::format("team-{}", queue), where = fmt::format("{}-{}", of, i);
      for (int day = 1; day <= 25; ++day)
        hours.days[fmt::format("2026-11-{:02}", day)][of][where] = 1'000'000'000'000;
      for (int day = 1; day <= 25; ++day)
        hours.pools.days[fmt::format("2026-11-{:02}", day)]["training"] = 1'000'000'000'000;
      for (int month = 1; month <= 11; ++month)
        hours.months[fmt::format("2026-{:02}", month)][of][where] = 1'000'000'000'000;
    }
  const auto bytes = [](const UsageTexts& data) {
    std::size_t all = 0;
    for (const auto& [key, text] : data) all += key.size() + text.size();
    return all;
  };
  GpuHours kept = hours;
  EXPECT_LE(bytes(encode_usage(kept)), kMaxUsageBytes);
  EXPECT_EQ(kept.months.size(), 11U);
  EXPECT_GT(kept.days.size(), 1U);
  EXPECT_EQ(kept.days.rbegin()->first, "2026-11-25");
  kept = hours;
  encode_usage(kept, 100'000);
  EXPECT_EQ(kept.days.size(), 1U);
  EXPECT_EQ(kept.pools.days.size(), 1U);
  EXPECT_EQ(kept.months.rbegin()->second["team-0"].size(), 300U);
  kept = hours;
  EXPECT_LE(bytes(encode_usage(kept, 1'000)), 1'000U);
  EXPECT_THAT(kept.months.rbegin()->second["team-2"],
              ElementsAre(std::pair<const std::string, std::int64_t>("", 300'000'000'000'000)));
}

TEST_F(UsageMeterTest, AZoneThatDoesNotExistIsTold) {
  GPUQueue queue = queue_of("vision", 16);
  queue.spec.budget = BudgetSpec{1000, BudgetPeriod::kDay, "Europe/Berln", WhenExceeded::kWarn};
  add(queue);
  EXPECT_THAT(conditions(), HasSubstr("TimeZoneUnknown"));
}

}  // namespace
}  // namespace berth::queue
