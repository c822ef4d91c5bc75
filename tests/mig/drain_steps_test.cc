// SPDX-License-Identifier: Apache-2.0
// When berth evicts a pod, how long it waits for the pod, and which pods force may delete.
#include "controller/mig/drain_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "tests/mig/planned_cluster.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct DrainStepsTest : ::testing::Test {
  DrainStepsTest() {
    world.add_nodes(2);
    since = world.now;
  }
  // "ask p", "evict p", "delete p", in order.
  std::vector<std::string> steps() {
    plan = Plan();
    progress = plan_drain(world.snapshot(), *world.cluster.nodes().find("n1"), drain, since, plan);
    std::vector<std::string> told;
    for (const ObjectSteps& object : plan.objects)
      for (const Step& step : object.steps) {
        const Write* write = std::get_if<Write>(&step);
        told.push_back((write == nullptr ? "ask " : std::string(to_string(write->verb)) + " ") +
                       object.object.name);
      }
    return told;
  }
  // The server's answer to the eviction of the pod, just now.
  void answered(const Pod& pod, Error error) {
    Answer no;
    no.error = std::move(error);
    no.at = world.now;
    world.answers.put(question(ask_of(pod)), std::move(no));
  }
  PlannedCluster world;
  DrainSpec drain;
  Time since;
  Plan plan;
  DrainProgress progress;
};

TEST_F(DrainStepsTest, APodIsAskedForAndEvictedAndTheDeadlineIsNoted) {
  world.add(pod("p").gpu(1).on("n1")).add(pod("other").gpu(1).on("n2"));
  EXPECT_THAT(steps(), ElementsAre("ask p", "evict p"));
  EXPECT_EQ(plan.requeue_after, drain.timeout);
  EXPECT_FALSE(progress.empty);
  EXPECT_EQ(progress.cause.reason, reasons::kPodsLeaving);
  world.now = since + drain.timeout - 1ms;
  EXPECT_THAT(steps(), ElementsAre("ask p", "evict p"));
  world.now += 1ms;
  EXPECT_THAT(steps(), IsEmpty());
  EXPECT_TRUE(progress.timed_out);
}

// A TFJob whose default is Never; the server has said so, or not yet.
TEST_F(DrainStepsTest, APodWithoutWhichItsJobFailsIsNeitherEvictedNorForcedOff) {
  Pod p = pod("p").gpu(1).on("n1");
  p.never_restarts = true;
  p.meta.owner_references = {{"kubeflow.org/v1", "TFJob", "tf", "uid-tf", true}};
  world.add(p);
  drain.on_timeout = OnTimeout::kForce;
  EXPECT_THAT(steps(), ElementsAre("ask p", "ask p", "evict p"));
  const auto* look = std::get_if<Guard>(&plan.objects.at(0).steps.at(0));
  ASSERT_NE(look, nullptr) << "a refusal drops the eviction";
  const auto refuse = [&](const char* policy) {
    const auto why = look->refuse_object(
        std::string(R"({"metadata":{"uid":"uid-tf"},"spec":{"tfReplicaSpecs":{"Worker":)") +
        policy + "}}}");
    world.answers.put(
        question(*look),
        {.yes = !why, .error = {ErrorKind::kConflict, why.value_or("")}, .at = world.now});
    return why;
  };
  const Guard kept = *look;
  look = &kept;
  ASSERT_TRUE(refuse("{}"));
  EXPECT_THAT(steps(), IsEmpty());
  EXPECT_EQ(progress.cause.reason, reasons::kOwnerWouldFail);
  EXPECT_THAT(progress.cause.message, HasSubstr("TFJob team-a/tf would fail"));
  EXPECT_FALSE(progress.timed_out);
  world.now += 31s;
  EXPECT_THAT(steps(), ElementsAre("ask tf")) << "read again before the answer is too old";
  EXPECT_EQ(progress.cause.reason, reasons::kOwnerWouldFail);
  world.now = since + drain.timeout;
  refuse("{}");
  EXPECT_THAT(steps(), IsEmpty());
  EXPECT_TRUE(progress.timed_out) << "the node is put back";
  refuse(R"({"restartPolicy":"ExitCode"})");
  EXPECT_THAT(steps(), ElementsAre("ask p", "delete p"));
  EXPECT_TRUE(std::holds_alternative<Guard>(plan.objects[0].steps[0]));
  refuse("{}");
  drain.force = true;
  EXPECT_THAT(steps(), ElementsAre("delete p")) << "as a bare pod then";
}

TEST_F(DrainStepsTest, AnEmptyNodeIsDone) {
  EXPECT_THAT(steps(), IsEmpty());
  EXPECT_TRUE(progress.empty);
  EXPECT_FALSE(progress.timed_out);
  EXPECT_EQ(plan.requeue_after, std::nullopt);
}

TEST_F(DrainStepsTest, ARefusalIsTriedAgainAfterAWhileThatGoesByItsKind) {
  const Pod p = pod("p").gpu(1).on("n1");
  world.add(p);
  struct Case {
    const char* sentence;
    Error error;
    Duration wait;
  };
  for (const Case& c : {
           Case{"a budget", {.kind = ErrorKind::kThrottled, .http_code = 429}, 5s},
           Case{"a server in trouble", {.kind = ErrorKind::kServer, .http_code = 500}, 30s},
           Case{"the server's own word",
                {.kind = ErrorKind::kThrottled, .http_code = 429, .retry_after = 10s},
                10s},
           Case{"a shorter word of the server's",
                {.kind = ErrorKind::kThrottled, .http_code = 429, .retry_after = 1s},
                5s},
       }) {
    SCOPED_TRACE(c.sentence);
    answered(p, c.error);
    EXPECT_THAT(steps(), IsEmpty());
    EXPECT_EQ(plan.requeue_after, c.wait);
    world.now += c.wait;
    EXPECT_THAT(steps(), ElementsAre("ask p", "evict p"));
    since = world.now;
  }
}

TEST_F(DrainStepsTest, PodsThatAreWaitedForHaveATimeOfTheirOwn) {
  drain.wait_for_completion.emplace();
  drain.wait_for_completion->pod_selector = LabelSelector{{{"wait", "yes"}}, {}};
  world.add(pod("awaited").gpu(1).on("n1").label("wait", "yes"));
  world.now = since + drain.timeout;
  EXPECT_THAT(steps(), IsEmpty());
  EXPECT_FALSE(progress.timed_out);
  EXPECT_EQ(plan.requeue_after, drain.wait_for_completion->timeout - drain.timeout);
  EXPECT_THAT(progress.cause.message, HasSubstr("is left to end by itself"));
  world.add(pod("other").gpu(1).on("n1"));
  steps();
  EXPECT_TRUE(progress.timed_out) << "the other one's time is up";
}

// The chart's policies refuse a deletion without a grace period, and a pod may have a period of 0.
TEST_F(DrainStepsTest, ForceLeavesAPodASecondThatGivesItselfNone) {
  drain.on_timeout = OnTimeout::kForce;
  Pod hasty = pod("p").gpu(1).on("n1");
  hasty.termination_grace_period_seconds = 0;
  world.add(hasty), world.add(pod("q").gpu(1).on("n1"));
  world.now = since + drain.timeout;
  EXPECT_THAT(steps(), ElementsAre("delete p", "delete q"));
  EXPECT_EQ(std::get<Write>(plan.objects[0].steps[0]).grace_period_seconds, 1);
  EXPECT_EQ(std::get<Write>(plan.objects[1].steps[0]).grace_period_seconds, std::nullopt);
}

TEST_F(DrainStepsTest, ForceDeletesWhatHasOutstayedItsTimeAndNothingThatIsProtected) {
  drain.on_timeout = OnTimeout::kForce;
  drain.grace_period_seconds = 0;
  struct Case {
    const char* sentence;
    std::function<void(DrainSpec&)> with;
    Pod pod;
    bool deleted;
  };
  const auto as_it_is = [](DrainSpec&) {};
  const auto force = [](DrainSpec& spec) { spec.force = true; };
  const auto keep_data = [](DrainSpec& spec) { spec.delete_empty_dir_data = false; };
  const auto all_pods = [](DrainSpec& spec) { spec.scope = DrainScope::kAllPods; };
  for (const Case& c : {
           Case{"a pod of a ReplicaSet", as_it_is, pod("p").gpu(1).on("n1"), true},
           Case{"nobody's pod", as_it_is, pod("p").gpu(1).on("n1").unmanaged(), false},
           Case{"nobody's pod, with force", force, pod("p").gpu(1).on("n1").unmanaged(), true},
           Case{"a pod with data on the node", as_it_is, pod("p").gpu(1).on("n1").empty_dir(),
                true},
           Case{"a pod whose data the layout keeps", keep_data,
                pod("p").gpu(1).on("n1").empty_dir(), false},
           Case{"a pod without data where data is kept", keep_data, pod("p").gpu(1).on("n1"), true},
           Case{"what the cluster lives from", all_pods, pod("p").on("n1").in("kube-system"),
                false},
           Case{"of kube-system with a GPU", as_it_is, pod("p").gpu(1).on("n1").in("kube-system"),
                true},
           Case{"what is berth's", all_pods, pod("p").on("n1").in("berth-system"), false},
           Case{"a pod without a GPU", all_pods, pod("p").on("n1"), true},
       }) {
    SCOPED_TRACE(c.sentence);
    for (const char* name : {"team-a", "kube-system", "berth-system"})
      world.cluster.erase<Pod>(name, "p");
    DrainSpec usual = drain;
    c.with(drain);
    world.add(c.pod);
    world.now = since + drain.timeout - 1ms;
    steps();
    EXPECT_FALSE(progress.timed_out);
    world.now += 1ms;
    if (c.deleted) {
      EXPECT_THAT(steps(), ElementsAre("delete p"));
      const Write& write = std::get<Write>(plan.objects[0].steps[0]);
      EXPECT_EQ(write.grace_period_seconds, 1) << "never 0";
      EXPECT_EQ(write.object.uid, "uid-p");
    } else {
      EXPECT_THAT(steps(), IsEmpty());
      EXPECT_TRUE(progress.timed_out);
    }
    drain = usual;
  }
}

TEST_F(DrainStepsTest, WhatWasForcedOffHasItsGracePeriodAndThenTheTimeOfEveryPod) {
  drain.on_timeout = OnTimeout::kForce;
  Pod going = pod("p").gpu(1).on("n1");
  going.meta.deletion_timestamp = since + drain.timeout + 10min;
  world.add(going);
  world.now = *going.meta.deletion_timestamp + drain.timeout - 1ms;
  EXPECT_THAT(steps(), IsEmpty());
  EXPECT_FALSE(progress.timed_out);
  EXPECT_THAT(progress.cause.message, HasSubstr("is terminating"));
  world.now += 1ms;
  EXPECT_THAT(steps(), IsEmpty());
  EXPECT_TRUE(progress.timed_out);
}

TEST_F(DrainStepsTest, WithoutForceAPodThatTerminatesHasTheTimeOfEveryPodToo) {
  Pod going = pod("p").gpu(1).on("n1");
  going.meta.deletion_timestamp = since + drain.timeout + 10min;
  world.add(going);
  world.now = since + drain.timeout - 1ms;
  steps();
  EXPECT_FALSE(progress.timed_out);
  world.now += 1ms;
  steps();
  EXPECT_TRUE(progress.timed_out);
}

TEST_F(DrainStepsTest, ForceDeletesNoPodThatWouldComeBack) {
  drain.on_timeout = OnTimeout::kForce;
  Pod tolerant = pod("p").gpu(1).on("n1");
  tolerant.shape.edit()->tolerations = {{"", "Exists", "", ""}};
  tolerant.shape.edit()->node_selector.set("kubernetes.io/hostname", "n1");
  world.add(tolerant);
  world.now = since + drain.timeout;
  EXPECT_THAT(steps(), IsEmpty());
  EXPECT_TRUE(progress.timed_out);
  EXPECT_EQ(progress.cause.reason, reasons::kToleratesCordon);
}

TEST_F(DrainStepsTest, AYesIsFollowedByTheEvictionAtOnce) {
  const Pod p = pod("p").gpu(1).on("n1");
  world.add(p);
  world.answers.put(question(ask_of(p)), {.yes = true, .at = world.now});
  EXPECT_THAT(steps(), ElementsAre("ask p", "evict p"));
}

TEST_F(DrainStepsTest, OfReasonsThatWeighTheSameTheFirstPodsIsTold) {
  world.add(pod("a").gpu(1).on("n1").unmanaged()).add(pod("b").gpu(1).on("n1").unmanaged());
  steps();
  EXPECT_THAT(progress.cause.message, HasSubstr("pod team-a/a has no controller"));
  for (const char* name : {"a", "b"}) world.add(pod(name).gpu(1).on("n1").terminating());
  steps();
  EXPECT_THAT(progress.cause.message, HasSubstr("pod team-a/a is terminating"));
}

TEST_F(DrainStepsTest, WhatAPersonMustSolveIsToldBeforeWhatTimeWill) {
  world.add(pod("a").gpu(1).on("n1").terminating());
  const Pod p = pod("b").gpu(1).on("n1");
  world.add(p);
  answered(p, {.kind = ErrorKind::kForbidden, .message = "no", .http_code = 403});
  steps();
  EXPECT_EQ(progress.cause.reason, reasons::kEvictionForbidden);
}

TEST_F(DrainStepsTest, TimeBeforeThisLeaderIsNoPatience) {
  world.add(pod("p").gpu(1).on("n1"));
  drain.on_timeout = OnTimeout::kForce;
  world.now = since + 5 * drain.timeout;
  world.attention.since = world.now;
  EXPECT_THAT(steps(), ElementsAre("ask p", "evict p")) << "nobody has asked politely yet";
  EXPECT_EQ(plan.requeue_after, drain.timeout);
  world.now += drain.timeout;
  EXPECT_THAT(steps(), ElementsAre("delete p"));
}

TEST_F(DrainStepsTest, WhileTheClockIsWrongNobodyIsForcedOffAndNoDrainTimesOut) {
  world.add(pod("p").gpu(1).on("n1"));
  world.now = since + 5 * drain.timeout;
  for (const Duration skew : {Duration(-5min - 1s), Duration(5min + 1s)}) {
    world.attention.clock_skew = skew;
    drain.on_timeout = OnTimeout::kForce;
    EXPECT_THAT(steps(), ElementsAre("ask p", "evict p"));
    EXPECT_EQ(plan.requeue_after, kMaxClockSkew) << "it is looked at again";
    drain.on_timeout = OnTimeout::kAbort;
    steps();
    EXPECT_FALSE(progress.timed_out);
  }
  world.attention.clock_skew = 5min;
  steps();
  EXPECT_TRUE(progress.timed_out);
}

}  // namespace
}  // namespace berth::test
