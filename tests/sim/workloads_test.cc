// SPDX-License-Identifier: Apache-2.0
// The controllers that create pods, count them for budgets and clean up after their owners.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "controller/sim/kube/daemon_sets.h"
#include "controller/sim/kube/disruption_budgets.h"
#include "controller/sim/kube/garbage_collector.h"
#include "controller/sim/kube/jobs.h"
#include "controller/sim/kube/replica_sets.h"
#include "tests/sim/kube_world.h"

namespace berth::sim {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr char kReplicaSet[] = R"({"metadata":{"name":"web"},"spec":{"replicas":3,
  "selector":{"matchLabels":{"app":"web"}},
  "template":{"metadata":{"labels":{"app":"web"}},
              "spec":{"containers":[{"name":"main","image":"serve"}]}}}})";

struct WorkloadsTest : testing::Test, KubeWorld {
  WorkloadsTest() { add_node("n1", 8); }
  std::vector<std::string> pods() const { return names("pods"); }
  std::string budget(const char* field) const {
    return at("poddisruptionbudgets", "b", std::string("/status/") + field);
  }
  void add_budget(const std::string& spec) {
    create("poddisruptionbudgets", R"({"metadata":{"name":"b"},"spec":{
        "selector":{"matchLabels":{"app":"web"}},)" +
                                       spec + "}}");
  }
  // The code of the answer.
  int edit_job(const char* patch) {
    return user.merge_patch("jobs", "team", "train", nlohmann::json::parse(patch)).code;
  }
  void add_job(const std::string& spec) {
    create("jobs", R"({"metadata":{"name":"train"},"spec":{)" + spec + R"(
        "template":{"spec":{"restartPolicy":"Never",
                            "containers":[{"name":"main","image":"train"}]}}}})");
  }
};

// --- ReplicaSets ---

TEST_F(WorkloadsTest, AReplicaSetHasItsPodsAndReplacesWhoGoes) {
  create("replicasets", kReplicaSet);
  run_for(5s);
  const auto first = pods();
  EXPECT_THAT(first, SizeIs(3));
  EXPECT_EQ(at("replicasets", "web", "/status/readyReplicas"), "3");
  EXPECT_EQ(at("replicasets", "web", "/status/observedGeneration"), "1");
  remove("pods", first[0]);
  run_for(1s);
  EXPECT_THAT(pods(), SizeIs(4)) << "the new one comes beside the old one";
  run_for(5s);
  EXPECT_THAT(pods(), SizeIs(3));
  EXPECT_FALSE(exists("pods", first[0]));
  EXPECT_EQ(at("replicasets", "web", "/status/readyReplicas"), "3");
}

TEST_F(WorkloadsTest, AReplicaSetScalesDown) {
  create("replicasets", kReplicaSet);
  run_for(5s);
  merge("replicasets", "web", R"({"spec":{"replicas":1}})");
  run_for(5s);
  EXPECT_THAT(pods(), SizeIs(1));
}

// --- DaemonSets ---

struct DaemonSetsTest : WorkloadsTest {
  DaemonSetsTest() {
    merge("nodes", "n1", R"({"metadata":{"labels":{"nvidia.com/gpu.deploy.plugin":"true"}}})");
    create("daemonsets", R"({"metadata":{"name":"plugin"},"spec":{
      "selector":{"matchLabels":{"app":"plugin"}},
      "template":{"metadata":{"labels":{"app":"plugin"}},
                  "spec":{"nodeSelector":{"nvidia.com/gpu.deploy.plugin":"true"},
                          "containers":[{"name":"main","image":"plugin"}]}}}})");
    run_for(5s);
  }
  void label(const char* value) {
    merge("nodes", "n1",
          std::string(R"({"metadata":{"labels":{"nvidia.com/gpu.deploy.plugin":")") + value +
              R"("}}})");
  }
};

TEST_F(DaemonSetsTest, EachMatchingNodeHasOnePodAlsoANewOne) {
  ASSERT_THAT(pods(), SizeIs(1));
  EXPECT_EQ(at("pods", pods()[0], "/spec/nodeName"), "n1");
  EXPECT_EQ(at("daemonsets", "plugin", "/status/numberReady"), "1");
  add_node("other", 1);
  add_node("n2", 1, R"({"nvidia.com/gpu.deploy.plugin":"true"})");
  run_for(5s);
  EXPECT_THAT(pods(), SizeIs(2));
  EXPECT_EQ(at("daemonsets", "plugin", "/status/desiredNumberScheduled"), "2");
}

TEST_F(DaemonSetsTest, APausedDeployLabelTakesThePodAwayAndARestoredOneBringsANewOne) {
  const auto before = pods();
  label("paused-for-mig-change");
  run_for(5s);
  EXPECT_THAT(pods(), IsEmpty());
  EXPECT_EQ(at("daemonsets", "plugin", "/status/desiredNumberScheduled"), "0");
  label("true");
  run_for(5s);
  EXPECT_THAT(pods(), SizeIs(1));
  EXPECT_THAT(pods(), Not(before));
}

TEST_F(DaemonSetsTest, ACordonKeepsNoDaemonPodAway) {
  merge("nodes", "n1", R"({"spec":{"unschedulable":true}})");
  run_for(1s);
  remove("pods", pods()[0]);
  run_for(10s);
  ASSERT_THAT(pods(), SizeIs(1));
  EXPECT_EQ(at("pods", pods()[0], "/status/phase"), "Running");
}

TEST_F(DaemonSetsTest, ATaintOfOthersKeepsNewPodsAwayAndLeavesTheOldOne) {
  merge("nodes", "n1", R"({"spec":{"taints":[{"key":"k","effect":"NoSchedule"}]}})");
  run_for(5s);
  ASSERT_THAT(pods(), SizeIs(1));
  remove("pods", pods()[0]);
  run_for(10s);
  EXPECT_THAT(pods(), IsEmpty());
}

TEST_F(DaemonSetsTest, AHungPodHasNoSuccessor) {
  kube.hang("team", pods()[0]);
  remove("pods", pods()[0]);
  run_for(1min);
  EXPECT_THAT(pods(), SizeIs(1));
}

// --- Jobs ---

TEST_F(WorkloadsTest, AJobIsCompleteWhenItsPodsHaveSucceeded) {
  add_job(R"("completions":3,"parallelism":2,)");
  run_for(5s);
  ASSERT_THAT(pods(), SizeIs(2));
  for (const std::string& pod : pods()) kube.finish("team", pod, true);
  run_for(5s);
  ASSERT_THAT(pods(), SizeIs(3));
  EXPECT_EQ(at("jobs", "train", "/status/succeeded"), "2");
  for (const std::string& pod : pods()) kube.finish("team", pod, true);
  run_for(5s);
  EXPECT_EQ(condition("jobs", "train", "Complete"), "True CompletionsReached");
  EXPECT_THAT(pods(), SizeIs(3)) << "finished pods stay";
}

TEST_F(WorkloadsTest, AnEvictedPodOfAJobIsAFailureAndTwoAreTooMany) {
  add_job(R"("backoffLimit":1,)");
  run_for(5s);
  EXPECT_EQ(evict(pods()[0]), 201);
  run_for(5s);
  EXPECT_EQ(at("jobs", "train", "/status/failed"), "1");
  EXPECT_THAT(pods(), IsEmpty()) << "its successor waits ten seconds";
  run_for(10s);
  ASSERT_THAT(pods(), SizeIs(1));
  EXPECT_EQ(evict(pods()[0]), 201);
  run_for(5s);
  EXPECT_EQ(condition("jobs", "train", "Failed"), "True BackoffLimitExceeded");
}

TEST_F(WorkloadsTest, AJobThatHoldsASuccessorBackStillCountsTheOthers) {
  add_job(R"("completions":2,"parallelism":2,)");
  run_for(5s);
  const auto both = pods();
  kube.finish("team", both[0], false);
  run_for(1s);
  kube.finish("team", both[1], true);
  run_for(1s);
  EXPECT_EQ(at("jobs", "train", "/status/failed"), "1");
  EXPECT_EQ(at("jobs", "train", "/status/succeeded"), "1");
  EXPECT_THAT(pods(), SizeIs(2));
}

TEST_F(WorkloadsTest, AnEvictionIsNoFailureWhereThePolicyIgnoresDisruptions) {
  add_job(R"("backoffLimit":0,"podFailurePolicy":{"rules":[{"action":"Ignore",
      "onPodConditions":[{"type":"DisruptionTarget","status":"True"}]}]},)");
  run_for(5s);
  const auto first = pods();
  EXPECT_EQ(evict(first[0]), 201);
  run_for(1s);
  EXPECT_EQ(pods(), first) << "replaced once it is seen how it ended";
  run_for(5s);
  EXPECT_EQ(at("jobs", "train", "/status/failed"), "");
  EXPECT_THAT(pods(), SizeIs(1));
  EXPECT_THAT(pods(), Not(first));
  kube.finish("team", pods()[0], false);
  run_for(5s);
  EXPECT_EQ(condition("jobs", "train", "Failed"), "True BackoffLimitExceeded");
}

TEST_F(WorkloadsTest, ASuspendedJobLosesItsPodsAndNoneIsAFailure) {
  add_job(R"("backoffLimit":0,)");
  run_for(5s);
  const auto first = pods();
  ASSERT_THAT(first, SizeIs(1));
  const std::string began = at("jobs", "train", "/status/startTime");
  merge("jobs", "train", R"({"spec":{"suspend":true}})");
  run_for(10s);
  EXPECT_THAT(pods(), IsEmpty());
  EXPECT_EQ(condition("jobs", "train", "Suspended"), "True JobSuspended");
  EXPECT_EQ(at("jobs", "train", "/status/active"), "") << "no zero is kept";
  EXPECT_EQ(at("jobs", "train", "/status/failed"), "");
  EXPECT_EQ(at("jobs", "train", "/status/startTime"), began) << "until it is resumed";

  merge("jobs", "train", R"({"spec":{"suspend":false}})");
  run_for(5s);
  EXPECT_THAT(pods(), SizeIs(1));
  EXPECT_THAT(pods(), Not(first));
  EXPECT_EQ(condition("jobs", "train", "Suspended"), "False JobResumed");
  EXPECT_NE(at("jobs", "train", "/status/startTime"), began);
}

TEST_F(WorkloadsTest, AJobThatIsMadeSuspendedHasNotStarted) {
  add_job(R"("suspend":true,)");
  run_for(5s);
  EXPECT_THAT(pods(), IsEmpty());
  EXPECT_EQ(condition("jobs", "train", "Suspended"), "True JobSuspended");
  EXPECT_EQ(at("jobs", "train", "/status/startTime"), "");
}

TEST_F(WorkloadsTest, ATemplateTellsOtherNodesWhileItsJobRests) {
  add_node("n2", 8, R"({"tier":"other"})");
  constexpr char kElsewhere[] =
      R"({"spec":{"template":{"spec":{"nodeSelector":{"tier":"other"}}}}})";
  constexpr char kOtherImage[] =
      R"({"spec":{"template":{"spec":{"containers":[{"name":"main","image":"other"}]}}}})";
  add_job("");
  run_for(5s);
  EXPECT_EQ(edit_job(kElsewhere), 422) << "it runs";
  merge("jobs", "train", R"({"spec":{"suspend":true}})");
  run_for(10s);
  EXPECT_EQ(edit_job(kElsewhere), 200);
  EXPECT_EQ(edit_job(kOtherImage), 422) << "no node knows images";
  EXPECT_EQ(edit_job(R"({"spec":{"template":{"spec":{"containers":[
      {"name":"main","image":"train","resources":{"requests":{"cpu":"2"}}}]}}}})"),
            200);
  merge("jobs", "train", R"({"spec":{"suspend":false}})");
  run_for(5s);
  ASSERT_THAT(pods(), SizeIs(1));
  EXPECT_EQ(at("pods", pods()[0], "/spec/nodeName"), "n2");
}

TEST_F(WorkloadsTest, AnIndexedJobIsScaledWithItsCompletions) {
  add_job(R"("completionMode":"Indexed","completions":2,"parallelism":2,)");
  EXPECT_EQ(edit_job(R"({"spec":{"completions":3}})"), 422);
  EXPECT_EQ(edit_job(R"({"spec":{"completions":3,"parallelism":3}})"), 200);
  EXPECT_EQ(edit_job(R"({"spec":{"parallelism":-1}})"), 422);
}

TEST_F(WorkloadsTest, ADeletedJobTakesItsPodsWithIt) {
  add_job("");
  run_for(5s);
  remove("jobs", "train", R"({"propagationPolicy":"Background"})");
  run_for(10s);
  EXPECT_THAT(pods(), IsEmpty()) << "also from their finalizer";
}

// --- TFJobs, of another project ---

TEST_F(WorkloadsTest, AnEvictedPodOfATFJobIsMadeAgainOrFailsTheJobForGood) {
  const auto add = [&](const char* name, const char* policy) {
    create("tfjobs", std::string(R"({"metadata":{"name":")") + name +
                         R"("},"spec":{"tfReplicaSpecs":{"Worker":{"replicas":2,)" + policy + R"(
        "template":{"spec":{"containers":[{"name":"main","image":"x"}]}}}}}})");
  };
  add("fails", ""), add("again", R"("restartPolicy":"ExitCode",)");
  run_for(5s);
  ASSERT_THAT(pods(), SizeIs(4));
  const auto first_of = [&](const std::string& job) {
    for (const std::string& pod : pods())
      if (pod.starts_with(job)) return pod;
    return std::string();
  };
  for (const char* job : {"fails", "again"}) {
    const std::string pod = first_of(job);
    EXPECT_EQ(at("pods", pod, "/spec/restartPolicy"), "Never") << "they look alike";
    EXPECT_EQ(at("pods", pod, "/metadata/labels/training.kubeflow.org~1replica-type"), "worker");
    evict(pod);
  }
  run_for(1min);
  EXPECT_EQ(condition("tfjobs", "fails", "Failed"), "True TFJobFailed");
  EXPECT_EQ(first_of("fails"), "") << "its other pod ends with it";
  EXPECT_EQ(condition("tfjobs", "again", "Failed"), "");
  EXPECT_THAT(pods(), SizeIs(2));
}

// --- PodDisruptionBudgets ---

TEST_F(WorkloadsTest, ABudgetCountsAndTheServerSpendsIt) {
  create("replicasets", kReplicaSet);
  add_budget(R"("minAvailable":2)");
  run_for(5s);
  EXPECT_EQ(budget("expectedPods"), "3");
  EXPECT_EQ(budget("currentHealthy"), "3");
  EXPECT_EQ(budget("desiredHealthy"), "2");
  EXPECT_EQ(budget("disruptionsAllowed"), "1");
  EXPECT_EQ(condition("poddisruptionbudgets", "b", "DisruptionAllowed"), "True SufficientPods");
  const auto before = pods();
  EXPECT_EQ(evict(before[0]), 201);
  EXPECT_EQ(evict(before[1]), 429) << "a budget without room";
  run_for(5s);
  EXPECT_EQ(budget("disruptedPods"), "");
  EXPECT_EQ(budget("disruptionsAllowed"), "1") << "the successor is ready";
  EXPECT_EQ(evict(before[1]), 201);
}

TEST_F(WorkloadsTest, AnEvictionThatCameToNothingIsBelievedForTwoMinutes) {
  create("replicasets", kReplicaSet);
  add_budget(R"("minAvailable":2)");
  run_for(5s);
  merge("poddisruptionbudgets", "b",
        R"({"status":{"disruptionsAllowed":0,"disruptedPods":{")" + pods()[0] +
            R"(":"2026-01-01T00:00:07Z"}}})",
        "status");
  run_for(1min);
  EXPECT_EQ(budget("disruptionsAllowed"), "0");
  run_for(61s);
  EXPECT_EQ(budget("disruptionsAllowed"), "1");
  EXPECT_EQ(budget("disruptedPods"), "");
}

struct Budget {
  const char* sentence;
  const char* spec;
  const char* desired;
  const char* allowed;
};
class BudgetTest : public testing::TestWithParam<Budget> {};
TEST_P(BudgetTest, OfThreeReadyPodsOfAReplicaSet) {
  const Budget& c = GetParam();
  KubeWorld world;
  world.add_node("n1", 0);
  world.create("replicasets", kReplicaSet);
  world.create("poddisruptionbudgets",
               std::string(R"({"metadata":{"name":"b"},"spec":{)") + c.spec + "}}");
  world.run_for(5s);
  EXPECT_EQ(world.at("poddisruptionbudgets", "b", "/status/desiredHealthy"), c.desired)
      << c.sentence;
  EXPECT_EQ(world.at("poddisruptionbudgets", "b", "/status/disruptionsAllowed"), c.allowed)
      << c.sentence;
}
constexpr Budget kBudgetCases[] = {
    {"half of three is two", R"("minAvailable":"50%","selector":{"matchLabels":{"app":"web"}})",
     "2", "1"},
    {"half of three may be unavailable, rounded up",
     R"("maxUnavailable":"50%","selector":{"matchLabels":{"app":"web"}})", "1", "2"},
    {"none may be unavailable", R"("maxUnavailable":0,"selector":{})", "3", "0"},
    {"more than there are", R"("minAvailable":5,"selector":{})", "5", "0"},
    {"a selector that selects nothing allows nothing",
     R"("minAvailable":0,"selector":{"matchLabels":{"app":"db"}})", "0", "0"},
};
INSTANTIATE_TEST_SUITE_P(All, BudgetTest, testing::ValuesIn(kBudgetCases));

TEST_F(WorkloadsTest, ABudgetThatNeedsAScaleFailsForPodsOfAJob) {
  create("jobs", R"({"metadata":{"name":"train"},"spec":{"template":{
      "metadata":{"labels":{"app":"web"}},
      "spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"train"}]}}}})");
  add_budget(R"("maxUnavailable":1)");
  run_for(5s);
  EXPECT_EQ(condition("poddisruptionbudgets", "b", "DisruptionAllowed"), "False SyncFailed");
  EXPECT_EQ(evict(pods()[0]), 429);
}

// --- garbage ---

TEST_F(WorkloadsTest, InTheBackgroundDependentsGoAfterTheirOwner) {
  create("replicasets", kReplicaSet);
  run_for(5s);
  remove("replicasets", "web", R"({"propagationPolicy":"Background"})");
  EXPECT_FALSE(exists("replicasets", "web"));
  EXPECT_THAT(pods(), SizeIs(3));
  run_for(5s);
  EXPECT_THAT(pods(), IsEmpty());
}

TEST_F(WorkloadsTest, InTheForegroundTheOwnerGoesLast) {
  create("replicasets", kReplicaSet);
  run_for(5s);
  remove("replicasets", "web", R"({"propagationPolicy":"Foreground"})");
  run_for(1s);
  EXPECT_TRUE(exists("replicasets", "web"));
  EXPECT_THAT(pods(), SizeIs(3)) << "terminating, and none anew";
  run_for(5s);
  EXPECT_FALSE(exists("replicasets", "web"));
  EXPECT_THAT(pods(), IsEmpty());
}

TEST_F(WorkloadsTest, OrphansStay) {
  create("replicasets", kReplicaSet);
  run_for(5s);
  const auto before = pods();
  remove("replicasets", "web", R"({"propagationPolicy":"Orphan"})");
  run_for(5s);
  EXPECT_FALSE(exists("replicasets", "web"));
  EXPECT_EQ(pods(), before);
  EXPECT_EQ(at("pods", before[0], "/metadata/ownerReferences"), "");
}

TEST_F(WorkloadsTest, WhoHasAnotherOwnerStaysAndForgetsTheOneThatIsGone) {
  create("configmaps", R"({"metadata":{"name":"a"}})");
  create("configmaps", R"({"metadata":{"name":"b"}})");
  const auto owner = [&](const std::string& name, const std::string& uid) {
    return R"({"apiVersion":"v1","kind":"ConfigMap","name":")" + name + R"(","uid":")" + uid +
           "\"}";
  };
  const std::string uid_b = at("configmaps", "b", "/metadata/uid");
  create("configmaps", R"({"metadata":{"name":"both","ownerReferences":[)" +
                           owner("a", at("configmaps", "a", "/metadata/uid")) + "," +
                           owner("b", uid_b) + "]}}");
  create("configmaps",
         R"({"metadata":{"name":"stale","ownerReferences":[)" + owner("a", "another") + "]}}");
  run_for(1s);
  EXPECT_FALSE(exists("configmaps", "stale")) << "its owner was another of that name";
  remove("configmaps", "a");
  run_for(1s);
  EXPECT_EQ(at("configmaps", "both", "/metadata/ownerReferences"), "[" + owner("b", uid_b) + "]");
}

// Equal seeds give equal worlds.
std::string transcript(std::uint64_t seed) {
  KubeWorld world({}, seed);
  std::string text;
  world.simulation.store().observe([&](const Change& change) { text += change.frame(); });
  world.add_node("n1", 2);
  world.create("replicasets", kReplicaSet);
  world.run_for(10min);
  return text;
}
TEST(KubeActorsTest, TheSameSeedIsTheSameTranscript) {
  EXPECT_EQ(transcript(7), transcript(7));
  EXPECT_NE(transcript(7), transcript(8));
}

}  // namespace
}  // namespace berth::sim
