// SPDX-License-Identifier: Apache-2.0
// A thousand made-up days of GPUs, look by look: whoever works once in a window is never told to be
// idle, and whoever does nothing is found when the window and two looks are over.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <random>

#include "apis/base/names.h"
#include "controller/observe/gpu_use.h"
#include "controller/observe/reconcile.h"
#include "tests/observe/measured.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;

constexpr auto kInterval = 30s;
constexpr auto kWindow = 30min;

std::string telling(int util) {
  return fmt::format(
      "DCGM_FI_DEV_GPU_UTIL{{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\",namespace=\"team-a\",pod="
      "\"p\"}} {}\n",
      util);
}

UseState standing_of(const Measured& measured) {
  const GpuUse use = survey_use(measured.snapshot(), measured.policy());
  return use.pods.empty() ? UseState::kUnknown : use.pods.front().standing;
}

TEST(IdleTraces, OneBurstAWindowIsEnough) {
  for (unsigned seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Measured measured;
    measured.run(pod("p").gpu(1).on("n1"));
    const int looks = kWindow / kInterval;
    int until_burst = static_cast<int>(random() % looks);
    for (int look = 0; look < 4 * looks; ++look, measured.now += kInterval) {
      const bool burst = until_burst-- == 0;
      if (burst) until_burst = static_cast<int>(random() % looks);
      measured.look(
          telling(burst ? 5 + static_cast<int>(random() % 96) : static_cast<int>(random() % 5)));
      ASSERT_NE(standing_of(measured), UseState::kIdle) << look;
    }
  }
}

TEST(IdleTraces, WhoeverDoesNothingIsFoundInTime) {
  for (unsigned seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Measured measured;
    measured.run(pod("p").gpu(1).on("n1"));
    for (auto busy = random() % 100; busy > 0; --busy, measured.now += kInterval)
      measured.look(telling(50));
    const Time quiet = measured.now;
    while (measured.now < quiet + kWindow + 2 * kInterval) {
      measured.look(telling(static_cast<int>(random() % 5)));
      if (measured.now - quiet < kWindow) {
        ASSERT_NE(standing_of(measured), UseState::kIdle);
      }
      measured.now += kInterval;
    }
    measured.look(telling(0));
    ASSERT_EQ(standing_of(measured), UseState::kIdle);
  }
}

// Nobody looked: it may have worked.
TEST(IdleTraces, AGapBeginsTheWindowAnew) {
  Measured measured;
  measured.run(pod("p").gpu(1).on("n1"));
  measured.look(telling(0));
  measured.now += 29min;
  measured.look(telling(0));
  measured.now += 1min;
  measured.look(telling(0));
  EXPECT_EQ(standing_of(measured), UseState::kUnknown);
  measured.now += 10h;
  EXPECT_EQ(standing_of(measured), UseState::kUnknown) << "what was measured long ago";
}

TEST(IdleTraces, PowerIsASecondWitness) {
  Measured measured;
  measured.run(pod("p").gpu(1).on("n1"));
  for (int look = 0; look < 70; ++look, measured.now += kInterval)
    measured.look(telling(0) +
                  "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\"} 390\n");
  EXPECT_EQ(standing_of(measured), UseState::kBusy);
}

// Of two one is measured.
TEST(IdleTraces, AllItsGpusMustBeIdle) {
  Measured measured;
  measured.run(pod("p").gpu(2).on("n1"));
  for (int look = 0; look < 70; ++look, measured.now += kInterval) measured.look(telling(0));
  EXPECT_EQ(standing_of(measured), UseState::kUnknown);
}

TEST(IdleTraces, APodIsNotBlamedForTheTimeBeforeIt) {
  Measured measured;
  for (int look = 0; look < 70; ++look, measured.now += kInterval) measured.look(telling(0));
  measured.run(pod("p").gpu(1).on("n1").started(measured.now - 1min));
  measured.look(telling(0));
  EXPECT_EQ(standing_of(measured), UseState::kUnknown);
}

class Notify : public testing::Test {
 protected:
  void look_for(Duration span, int util) {
    for (const Time end = measured_.now + span; measured_.now < end; measured_.now += kInterval)
      measured_.look(telling(util));
    measured_.look(telling(util));
  }
  Measured measured_;
};

TEST_F(Notify, AnnotatesOnceAndTakesItBackWhenItWorks) {
  Namespace home;
  home.meta.name = "team-a";
  home.meta.annotations.set(names::kContactAnnotation, "ml@example.com");
  measured_.cluster.upsert(home, measured_.now);
  measured_.run(pod("p").gpu(1).on("n1"));
  const Time quiet = measured_.now;
  look_for(31min, 0);
  const Plan told = reconcile_idle(measured_.snapshot());
  ASSERT_EQ(told.objects.size(), 1u);
  ASSERT_EQ(told.events.size(), 2u) << "of the pod and of its owner";
  EXPECT_EQ(told.events[0].note,
            "its GPU has been used less than 5% since " + format_time(quiet) +
                ", for 30m at least; ml@example.com answers for the namespace");
  measured_.run(
      pod("p").gpu(1).on("n1").annotation(names::kIdleSinceAnnotation, format_time(quiet)));
  EXPECT_TRUE(reconcile_idle(measured_.snapshot()).empty());
  // A restart, after which it is not known yet: it stays told.
  measured_.samples = Samples();
  EXPECT_TRUE(reconcile_idle(measured_.snapshot()).empty());
  look_for(1min, 0);
  EXPECT_TRUE(reconcile_idle(measured_.snapshot()).empty());
  look_for(1min, 80);
  const Plan back = reconcile_idle(measured_.snapshot());
  ASSERT_EQ(back.objects.size(), 1u);
  EXPECT_TRUE(back.events.empty());
}

TEST_F(Notify, TheOwnerIsToldOnceOfAllItsPods) {
  Namespace home;
  home.meta.name = "team-a";
  home.meta.annotations.set(names::kContactAnnotation, "ml@example.com");
  measured_.cluster.upsert(home, measured_.now);
  const auto look = [&](int looks) {
    for (int i = 0; i < looks; ++i, measured_.now += kInterval)
      measured_.look(
          "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\",namespace=\"team-a\","
          "pod=\"web-0\"} 0\n"
          "DCGM_FI_DEV_GPU_UTIL{gpu=\"1\",UUID=\"GPU-b\",Hostname=\"n1\",namespace=\"team-a\","
          "pod=\"web-1\"} 0\n");
  };
  for (const char* name : {"web-0", "web-1"})
    measured_.run(pod(name).gpu(1).on("n1").owner("StatefulSet", "web"));
  look(70);
  const Plan told = reconcile_idle(measured_.snapshot());
  ASSERT_EQ(told.events.size(), 3u);
  const EventNote& event = told.events[2];
  EXPECT_EQ(event.regarding, (ObjectRef{"StatefulSet", "team-a", "web", "uid-web"}));
  EXPECT_EQ(event.api_version, "v1") << "as the pods have it";
  EXPECT_EQ(event.note,
            "2 of its pods hold 2 GPUs that are idle: web-0, web-1; ml@example.com answers for the "
            "namespace");
  ASSERT_TRUE(event.related);
  EXPECT_EQ(event.related->name, "web-0");

  measured_.run(pod("web-0")
                    .gpu(1)
                    .on("n1")
                    .owner("StatefulSet", "web")
                    .annotation(names::kIdleSinceAnnotation, format_time(measured_.now)));
  const Plan later = reconcile_idle(measured_.snapshot());
  ASSERT_EQ(later.events.size(), 2u);
  EXPECT_THAT(later.events[1].note,
              testing::StartsWith("1 of its pods holds 1 GPU that is idle: web-1;"))
      << "of whoever was told before nobody is told again";
}

TEST_F(Notify, OfAJobsPodsItsOwnOwnerIsTold) {
  Job job;
  job.meta.name = "nightly-1";
  job.meta.namespace_ = "team-a";
  job.meta.uid = "uid-nightly-1";
  job.meta.owner_references = {{"batch/v1", "CronJob", "nightly", "uid-nightly", true}};
  measured_.cluster.upsert(job, measured_.now);
  measured_.run(pod("p").gpu(1).on("n1").job("nightly-1"));
  look_for(31min, 0);
  const auto owner = [&] { return reconcile_idle(measured_.snapshot()).events.at(1); };
  EXPECT_EQ(owner().regarding.str(), "CronJob/team-a/nightly");
  EXPECT_EQ(owner().api_version, "batch/v1");
  job.meta.uid = "uid-another";
  measured_.cluster.upsert(job, measured_.now);
  EXPECT_EQ(owner().regarding.str(), "Job/team-a/nightly-1") << "not another of that name";
}

TEST_F(Notify, WhoHasNoOwnerOrANodeForOneIsToldAlone) {
  measured_.run(pod("p").gpu(1).on("n1").owner("Node", "n1"));
  look_for(31min, 0);
  EXPECT_EQ(reconcile_idle(measured_.snapshot()).events.size(), 1u);
  measured_.run(pod("p").gpu(1).on("n1").unmanaged());
  EXPECT_EQ(reconcile_idle(measured_.snapshot()).events.size(), 1u);
}

TEST_F(Notify, OfAMigInstanceItSaysWhatElseItCouldBe) {
  measured_.run(pod("p").requests("nvidia.com/mig-2g.20gb", 1).on("n1"));
  look_for(31min, 0);
  const Plan told = reconcile_idle(measured_.snapshot());
  ASSERT_EQ(told.events.size(), 2u);
  EXPECT_THAT(told.events[0].note,
              testing::HasSubstr("; an instance of nvidia.com/mig-2g.20gb could be "
                                 "1 of nvidia.com/mig-1g.20gb or 2 of nvidia.com/mig-1g.10gb"));
}

TEST_F(Notify, SaysWhatTheIdleGpusCostWhereTheyHaveAPrice) {
  measured_.run(pod("p").gpu(1).on("n1"));
  look_for(31min, 0);
  const auto note = [&](const std::string& price) {
    const Plan told = reconcile_idle(measured_.snapshot(), [&](const Pod& told_of) {
      EXPECT_EQ(told_of.meta.name, "p");
      return price;
    });
    return told.events.at(0).note;
  };
  EXPECT_THAT(note("2234 USD"), testing::HasSubstr("for 30m at least; it costs 2234 USD a month"));
  EXPECT_THAT(note(""), testing::Not(testing::HasSubstr("cost")));
}

TEST_F(Notify, ObserveWritesNothing) {
  GPUClusterPolicy policy = measured_.policy();
  policy.spec.idle.policy = IdlePolicy::kObserve;
  measured_.cluster.upsert(policy, measured_.now);
  measured_.run(pod("p").gpu(1).on("n1"));
  look_for(40min, 0);
  EXPECT_TRUE(reconcile_idle(measured_.snapshot()).empty());
  const GpuUse use = survey_use(measured_.snapshot(), measured_.policy());
  EXPECT_EQ(use.total.idle, 1);
  EXPECT_EQ(use.total.percent(), 0);
}

}  // namespace
}  // namespace berth::test
