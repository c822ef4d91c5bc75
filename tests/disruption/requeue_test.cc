// SPDX-License-Identifier: Apache-2.0
// Which pods leave with their Job, because a queue requeues it, and which checks must allow it.
#include "controller/queue/recall/requeue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "apis/base/reasons.h"
#include "controller/disruption/leaving_outlook.h"
#include "tests/mig/queued_job.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = EvictionOutlook::Kind;

// Job "train" of one pod on n1 and one on n2.
struct Requeue : ::testing::Test {
  Requeue() {
    world.add_nodes(2).add(team_a()).add(lab_queue()).add(admitted_job("train"));
    world.add(pod("a").gpu(1).on("n1").job("train")).add(pod("b").gpu(1).on("n2").job("train"));
  }
  PodVerdict verdict() {
    const auto all = pods_leaving(world.snapshot(), *world.cluster.nodes().find("n1"), drain);
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? PodVerdict{} : all.front();
  }
  LeavingOutlook outlook() { return leaving_outlook(world.snapshot(), verdict()); }
  void answer(const Pod& pod, bool yes) {
    Answer said{.yes = yes, .at = world.now};
    if (!yes) {
      said.error = {ErrorKind::kThrottled, "not now"};
      said.error.http_code = 429;
      said.error.causes = {{"DisruptionBudget", "", "needs 2 healthy pods and has 2"}};
    }
    world.answers.put(question(ask_of(pod)), std::move(said));
  }
  std::vector<std::string> asked() {
    std::vector<std::string> names;
    for (const Ask& ask : outlook().asks) names.push_back(ask.pod.name);
    return names;
  }
  template <class F>
  void edit(F change) {
    Job job = admitted_job("train");
    change(job);
    world.add(std::move(job));
  }
  PlannedCluster world;
  DrainSpec drain;
};

TEST_F(Requeue, AnAdmittedJobsPodLeavesWithItsJobThatHasNoFailureLeft) {
  EXPECT_EQ(verdict().fate, PodFate::kRequeue);
  EXPECT_EQ(verdict().job->meta.name, "train");
}

// Whatever decides where it waits afterwards.
TEST_F(Requeue, WhatIsWrittenOnAJobThatRunsDoesNotKeepIt) {
  world.add(lab_queue()).add(admitted_job("train"));
  world.add(pod("a").gpu(1).on("n1").job("train"));
  edit([](Job& j) { j.meta.annotations.set(names::kHoldAnnotation, "mine"); });
  EXPECT_EQ(verdict().fate, PodFate::kRequeue);
  edit([](Job& j) { j.meta.labels.set(names::kKueueQueueLabel, "theirs"); });
  EXPECT_EQ(verdict().fate, PodFate::kRequeue);
  edit([](Job& j) { j.meta.labels.set(names::kQueueLabel, "nobodys"); });
  EXPECT_EQ(verdict().fate, PodFate::kRequeue);
}

TEST_F(Requeue, AJobThatIsNotTheQueuesToTakeBackStaysAsItWas) {
  struct Case {
    const char* sentence;
    std::function<void()> stands;
  };
  for (const Case& c : {
           Case{
               "nobody admitted it",
               [&] { edit([](Job& j) { j.meta.annotations.erase(names::kAdmittedAnnotation); }); }},
           Case{"the record is another's",
                [&] {
                  edit([](Job& j) {
                    j.meta.annotations.set(names::kAdmittedAnnotation, record("uid-other"));
                  });
                }},
           Case{"the record can't be read",
                [&] {
                  edit([](Job& j) { j.meta.annotations.set(names::kAdmittedAnnotation, "yes"); });
                }},
           Case{"another controller made it",
                [&] {
                  edit([](Job& j) {
                    j.meta.owner_references = {{"v1", "JobSet", "set", "uid-set", true}};
                  });
                }},
           Case{"it has ended", [&] { edit([](Job& j) { j.finished = true; }); }},
           Case{"it is being deleted",
                [&] { edit([](Job& j) { j.meta.deletion_timestamp = Time{}; }); }},
           Case{"another Job has its name",
                [&] { world.add(pod("a").gpu(1).on("n1").job("train").owner("Job", "train-0")); }},
           Case{"its queue lets nothing go",
                [&] {
                  GPUQueue held = lab_queue();
                  held.spec.stop_policy = StopPolicy::kHold;
                  world.add(held);
                }},
           Case{"its queue is gone", [&] { world.cluster.erase<GPUQueue>("", "lab"); }},
       }) {
    SCOPED_TRACE(c.sentence);
    world.add(lab_queue()).add(admitted_job("train"));
    world.add(pod("a").gpu(1).on("n1").job("train"));
    ASSERT_EQ(verdict().fate, PodFate::kRequeue);
    c.stands();
    EXPECT_EQ(verdict().fate, PodFate::kBlocked);
    EXPECT_EQ(verdict().cause.reason, reasons::kJobRunning);
  }
}

TEST_F(Requeue, WhatTheLayoutAwaitsOrProtectsStays) {
  drain.wait_for_completion.emplace().pod_selector = LabelSelector{{{"app", "train"}}, {}};
  world.add(pod("a").gpu(1).on("n1").job("train").label("app", "train"));
  EXPECT_EQ(verdict().fate, PodFate::kAwaited);
  drain.delete_empty_dir_data = false;
  world.add(pod("a").gpu(1).on("n1").job("train").empty_dir());
  EXPECT_EQ(verdict().cause.reason, reasons::kLocalStorage);
}

TEST_F(Requeue, EachPodIsAskedForWhereverItRuns) {
  EXPECT_EQ(outlook().kind, Kind::kUnknown);
  EXPECT_THAT(asked(), ElementsAre("a", "b"));
  answer(pod("a"), true);
  EXPECT_EQ(outlook().kind, Kind::kUnknown);
  EXPECT_THAT(asked(), ElementsAre("b"));
  answer(pod("b"), true);
  EXPECT_EQ(outlook().kind, Kind::kYes);
  EXPECT_THAT(asked(), IsEmpty());
}

TEST_F(Requeue, ABudgetThatRefusesAPodElsewhereKeepsTheJob) {
  answer(pod("a"), true), answer(pod("b"), false);
  EXPECT_EQ(outlook().kind, Kind::kNo);
  EXPECT_EQ(outlook().cause.reason, reasons::kPodDisruptionBudget);
  EXPECT_THAT(outlook().cause.message, HasSubstr("does not allow evicting pod team-a/b"));
}

TEST_F(Requeue, ABudgetThatAllowsEachPodButNotAllOfThemKeepsTheJob) {
  for (const char* name : {"a", "b"}) {
    world.add(pod(name).gpu(1).on(name[0] == 'a' ? "n1" : "n2").job("train").label("app", "train"));
    answer(pod(name), true);
  }
  world.add(budget("keep", "app", "train", 1));  // of two healthy pods it keeps one
  EXPECT_EQ(outlook().kind, Kind::kNo);
  EXPECT_THAT(outlook().cause.message,
              HasSubstr("PodDisruptionBudget keep keeps 1 pod healthy, and with Job team-a/train, "
                        "which its queue takes back whole, 0 would be left"));
  world.add(budget("keep", "app", "train", 2));
  EXPECT_EQ(outlook().kind, Kind::kYes);
  world.add(budget("keep", "app", "train", 1));
  world.add(pod("b").gpu(1).on("n2").job("train").label("app", "train").terminating());
  EXPECT_EQ(outlook().kind, Kind::kYes) << "one that leaves anyway takes nothing from it";
}

TEST_F(Requeue, AMarkOnAPodElsewhereKeepsTheJob) {
  answer(pod("a"), true);
  world.add(
      pod("b").gpu(1).on("n2").job("train").annotation("karpenter.sh/do-not-disrupt", "true"));
  EXPECT_EQ(outlook().cause.reason, reasons::kDoNotDisrupt);
}

TEST_F(Requeue, ASuspendedJobIsAskedNothingMore) {
  edit([](Job& job) { job.suspended = true; });
  EXPECT_EQ(verdict().fate, PodFate::kRequeue);
  EXPECT_EQ(outlook().kind, Kind::kYes);
}

TEST_F(Requeue, TheSuspensionHoldsForTheVersionThatWasLookedAt) {
  const Write write = queue::suspend_job(admitted_job("train"), "drain node n1");
  EXPECT_EQ(write.verb, Verb::kMergePatch);
  EXPECT_EQ(write.field_manager, names::kManagerQueue);
  EXPECT_THAT(write.body, HasSubstr(R"("resourceVersion":"7")"));
  EXPECT_THAT(write.body, HasSubstr(R"("uid":"uid-train")"));
  EXPECT_THAT(write.body, HasSubstr(R"("spec":{"suspend":true})"));
}

}  // namespace
}  // namespace berth::test
