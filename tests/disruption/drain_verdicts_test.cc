// SPDX-License-Identifier: Apache-2.0
// The fate of each pod on a node that is drained, and the meaning of an eviction's answer.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "apis/base/reasons.h"
#include "controller/disruption/drain.h"
#include "tests/mig/planned_cluster.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Kind = EvictionOutlook::Kind;

const char* to_text(PodFate fate) {
  switch (fate) {
    case PodFate::kLeftAlone:
      return "LeftAlone";
    case PodFate::kTerminating:
      return "Terminating";
    case PodFate::kAwaited:
      return "Awaited";
    case PodFate::kEvict:
      return "Evict";
    case PodFate::kRequeue:
      return "Requeue";
    case PodFate::kBlocked:
      return "Blocked";
  }
  return "?";
}

struct DrainVerdicts : ::testing::Test {
  DrainVerdicts() { world.add_nodes(2); }
  // The verdicts on n1's pods: "a Evict", "b Blocked JobRunning: …".
  std::vector<std::string> verdicts() {
    std::vector<std::string> told;
    const Snapshot snapshot = world.snapshot();
    for (const PodVerdict& v : pods_leaving(snapshot, *snapshot.cluster.nodes().find("n1"), drain))
      told.push_back(fmt::format("{} {}{}{}{}", v.pod->meta.name, to_text(v.fate),
                                 v.cause.reason.empty() ? "" : " ", v.cause.reason,
                                 v.cause.message.empty() ? "" : ": " + v.cause.message));
    return told;
  }
  std::string verdict() {
    const std::vector<std::string> all = verdicts();
    return all.empty() ? "left alone" : all.front();
  }
  PlannedCluster world;
  DrainSpec drain;
};

TEST_F(DrainVerdicts, ComeByNamespaceAndName) {
  world.add(pod("c").gpu(1).on("n1").in("a-team")).add(pod("b").gpu(1).on("n1"));
  world.add(pod("a").gpu(1).on("n1")).add(pod("d").gpu(1).on("n2")).add(pod("e").gpu(1));
  EXPECT_THAT(verdicts(), ElementsAre("c Evict", "a Evict", "b Evict"));
}

TEST_F(DrainVerdicts, OnlyPodsWithGpusLeaveUnlessTheScopeIsAllPods) {
  world.add(pod("cpu").on("n1")).add(pod("agent").gpu(1).on("n1").in("gpu-operator"));
  world.add(pod("logs").on("n1").owner("DaemonSet", "logs"));
  EXPECT_THAT(verdicts(), IsEmpty());
  drain.scope = DrainScope::kAllPods;
  EXPECT_THAT(verdicts(), ElementsAre("cpu Evict"));
  for (const DrainScope scope : {DrainScope::kGPUPods, DrainScope::kAllPods}) {
    drain.scope = scope;
    const bool all = scope == DrainScope::kAllPods;
    EXPECT_EQ(is_in_the_way(pod("p"), drain, world.settings), all);
    EXPECT_TRUE(is_in_the_way(pod("p").gpu(1), drain, world.settings));
    EXPECT_FALSE(is_in_the_way(pod("p").gpu(1).phase(PodPhase::kFailed), drain, world.settings));
    EXPECT_FALSE(is_in_the_way(pod("p").gpu(1).in("gpu-operator"), drain, world.settings));
  }
}

TEST_F(DrainVerdicts, EachIsProtectedByWhatIsSaidOfItUntilTheLayoutOverrulesThat) {
  struct Case {
    const char* sentence;
    Pod pod;
    std::function<void(DrainSpec&)> with;
    const char* verdict;
  };
  const auto as_it_is = [](DrainSpec&) {};
  const auto keep_data = [](DrainSpec& spec) { spec.delete_empty_dir_data = false; };
  const auto force = [](DrainSpec& spec) { spec.force = true; };
  const auto await = [](DrainSpec& spec) {
    spec.wait_for_completion.emplace().pod_selector = LabelSelector{{{"wait", "yes"}}, {}};
  };
  const auto await_all = [](DrainSpec& spec) { spec.wait_for_completion.emplace(); };
  Pod step = pod("p").gpu(1).on("n1");
  step.never_restarts = true;
  step.meta.owner_references = {{"argoproj.io/v1alpha1", "Workflow", "w", "uid-w", true}};
  for (const Case& c : {
           Case{"a pod of a ReplicaSet", pod("p").gpu(1).on("n1"), as_it_is, "p Evict"},
           Case{"nobody's", pod("p").gpu(1).on("n1").unmanaged(), as_it_is,
                "p Blocked UnmanagedPod: pod team-a/p has no controller and would be lost"},
           Case{"nobody's, with force", pod("p").gpu(1).on("n1").unmanaged(), force, "p Evict"},
           Case{"of a controller that berth does not know", step, as_it_is,
                "p Blocked OwnerWouldFail: pod p has restartPolicy Never, and berth does not know"},
           Case{"of such a controller, with force", step, force, "p Evict"},
           Case{"of such a controller, awaited", step, await_all,
                "p Awaited OwnerWouldFail: pod p has restartPolicy Never"},
           Case{"with data that may go", pod("p").gpu(1).on("n1").empty_dir(), as_it_is, "p Evict"},
           Case{"with data that is kept", pod("p").gpu(1).on("n1").empty_dir(), keep_data,
                "p Blocked LocalStorage: pod team-a/p keeps data in an emptyDir volume"},
           Case{"without data", pod("p").gpu(1).on("n1"), keep_data, "p Evict"},
           Case{"marked",
                pod("p").gpu(1).on("n1").annotation("karpenter.sh/do-not-disrupt", "true"),
                as_it_is,
                "p Blocked DoNotDisrupt: pod team-a/p is annotated karpenter.sh/do-not-disrupt"},
           Case{"marked otherwise",
                pod("p").gpu(1).on("n1").annotation("karpenter.sh/do-not-disrupt", "false"),
                as_it_is, "p Evict"},
           Case{"marked, force is not for that",
                pod("p").gpu(1).on("n1").annotation("karpenter.sh/do-not-disrupt", "true"), force,
                "p Blocked DoNotDisrupt"},
           Case{"awaited", pod("p").gpu(1).on("n1").label("wait", "yes"), await, "p Awaited"},
           Case{"another than the awaited", pod("p").gpu(1).on("n1"), await, "p Evict"},
           Case{"awaited, but on its way out",
                pod("p").gpu(1).on("n1").label("wait", "yes").terminating(), await,
                "p Terminating"},
       }) {
    SCOPED_TRACE(c.sentence);
    drain = DrainSpec();
    c.with(drain);
    world.add(c.pod);
    EXPECT_THAT(verdict(), StartsWith(c.verdict));
  }
}

TEST_F(DrainVerdicts, AJobsPodsMayLeaveAsLongAsItsRetriesLastForAllOfThemHere) {
  struct Case {
    const char* sentence;
    int retries, failed, pods_here;
    const char* refusal;  // empty: they may be evicted
  };
  for (const Case& c : {
           Case{"one retry, one pod", 1, 0, 1, ""},
           Case{"no retry", 0, 0, 1, "it has 0 of 0 retries left for 1 pod here;"},
           Case{"the last retry is spent", 1, 1, 1, "it has 0 of 1 retries left for 1 pod here;"},
           Case{"more have failed than it may", 1, 3, 1, "it has 0 of 1 retries left for 1 pod"},
           Case{"one retry for two", 2, 1, 2, "it has 1 of 2 retries left for 2 pods here;"},
           Case{"two retries for two", 3, 1, 2, ""},
       }) {
    SCOPED_TRACE(c.sentence);
    for (const char* name : {"p0", "p1"}) world.cluster.erase<Pod>("team-a", name);
    world.add(job("train", c.retries, c.failed));
    for (int i = 0; i < c.pods_here; ++i)
      world.add(pod(fmt::format("p{}", i)).gpu(1).on("n1").job("train"));
    if (*c.refusal == '\0')
      EXPECT_EQ(verdict(), "p0 Evict");
    else
      EXPECT_THAT(verdict(), AllOf(StartsWith("p0 Blocked JobRunning: Job team-a/train would fail"),
                                   HasSubstr(c.refusal)));
  }
}

TEST_F(DrainVerdicts, AJobThatIsNotKnownHasNoRetriesAndOneThatIgnoresDisruptionsNeedsNone) {
  world.add(pod("p").gpu(1).on("n1").job("train"));
  EXPECT_THAT(verdict(), HasSubstr("it has 0 of 0 retries left for 1 pod here"));
  Job patient = job("train", 0);
  patient.ignores_disruptions = true;
  world.add(patient);
  EXPECT_EQ(verdict(), "p Evict");
  patient.meta.namespace_ = "team-b";
  world.add(job("train", 0)).add(patient);
  EXPECT_THAT(verdict(), StartsWith("p Blocked JobRunning")) << "another team's is another Job";
}

TEST_F(DrainVerdicts, PodsOfAJobThatAreOnTheirWayOutHaveNotFailedYet) {
  world.add(job("train", 1)).add(pod("p0").gpu(1).on("n1").job("train"));
  world.add(pod("p1").gpu(1).on("n1").job("train").terminating());
  EXPECT_THAT(verdict(), HasSubstr("it has 1 of 1 retries left for 2 pods here"));
  world.cluster.erase<Pod>("team-a", "p1");
  world.add(pod("p1").gpu(1).on("n2").job("train"));
  EXPECT_EQ(verdict(), "p0 Evict") << "those elsewhere stay";
}

// --- known facts about an eviction ---

struct Outlook : DrainVerdicts {
  Outlook() { world.add(web()); }
  static Pod web() { return pod("web").gpu(1).on("n1").label("app", "web"); }
  EvictionOutlook outlook(bool offline = false) {
    Snapshot snapshot{world.cluster, world.answers, world.settings, world.now, 1, false};
    snapshot.offline = offline;
    return eviction_outlook(snapshot, *world.cluster.pods().find("team-a", "web"));
  }
  void answered(bool yes, Error error = {}) {
    Answer answer;
    answer.yes = yes;
    answer.error = std::move(error);
    answer.at = world.now;
    world.answers.put(question(ask_of(*world.cluster.pods().find("team-a", "web"))),
                      std::move(answer));
  }
};

TEST_F(Outlook, IsUnknownUntilTheServerHasAnsweredAndAgainOnceTheAnswerIsOld) {
  EXPECT_EQ(outlook().kind, Kind::kUnknown);
  answered(true);
  EXPECT_EQ(outlook().kind, Kind::kYes);
  world.now += world.settings.answer_ttl;
  EXPECT_EQ(outlook().kind, Kind::kYes);
  world.now += 1ms;
  EXPECT_EQ(outlook().kind, Kind::kUnknown);
}

TEST_F(Outlook, ReadsEachRefusal) {
  const ErrorCause by_budget{"DisruptionBudget", "it needs 1 and has 1", ""};
  struct Case {
    const char* sentence;
    Error error;
    Kind kind;
    const char* reason;
    const char* message;
  };
  for (const Case& c : {
           Case{"gone", {.message = "x", .http_code = 404}, Kind::kYes, "", ""},
           Case{"another pod", {.message = "x", .http_code = 409}, Kind::kYes, "", ""},
           Case{"its namespace is going",
                {.message = "x", .http_code = 403, .causes = {{"NamespaceTerminating", "", ""}}},
                Kind::kYes,
                "",
                ""},
           Case{"a closed budget",
                {.message = "Cannot evict", .http_code = 429, .causes = {by_budget}},
                Kind::kNo,
                reasons::kPodDisruptionBudget,
                "PodDisruptionBudget (unknown) does not allow evicting pod team-a/web: it needs 1 "
                "and has 1; berth continues"},
           Case{"a budget that lags behind",
                {.message = "Cannot evict",
                .http_code = 429,
                .causes = {by_budget},
                .retry_after = 10s},
                Kind::kNo,
                reasons::kPodDisruptionBudget,
                "does not allow evicting"},
           Case{"a busy server", {.message = "slow", .http_code = 429}, Kind::kUnknown, "", ""},
           Case{"a server in trouble",
                {.kind = ErrorKind::kServer, .message = "x", .http_code = 500},
                Kind::kUnknown,
                "",
                ""},
           Case{"no reply", {.kind = ErrorKind::kTimeout, .message = "x"}, Kind::kUnknown, "", ""},
           Case{"forbidden",
                {.message = "policy says no", .http_code = 403},
                Kind::kNo,
                reasons::kEvictionForbidden,
                "the API server refuses to evict pod team-a/web: policy says no"},
           Case{"refused",
                {.message = "bad", .http_code = 422},
                Kind::kNo,
                reasons::kEvictionForbidden,
                "team-a/web: bad"},
       }) {
    SCOPED_TRACE(c.sentence);
    answered(false, c.error);
    const EvictionOutlook told = outlook();
    EXPECT_EQ(told.kind, c.kind);
    EXPECT_EQ(told.cause.reason, c.reason);
    EXPECT_THAT(told.cause.message, HasSubstr(c.message));
  }
}

TEST_F(Outlook, NamesTheBudgetsThatSelectThePod) {
  world.add(budget("web", "app", "web", 0)).add(budget("db", "app", "db", 0));
  PodDisruptionBudget elsewhere = budget("far", "app", "web", 0);
  elsewhere.meta.namespace_ = "team-b";
  world.add(elsewhere);
  answered(false, {.kind = ErrorKind::kThrottled,
                   .message = "Cannot evict",
                   .http_code = 429,
                   .causes = {{"DisruptionBudget", "", ""}}});
  EXPECT_THAT(outlook().cause.message, StartsWith("PodDisruptionBudget web does not allow"));
  const Error two{.kind = ErrorKind::kServer, .message = "x", .http_code = 500};
  answered(false, two);
  EXPECT_EQ(outlook().kind, Kind::kUnknown) << "one budget: a server in trouble";
  world.add(budget("web-2", "app", "web", 1));
  answered(false, two);
  EXPECT_EQ(outlook().kind, Kind::kNo);
  EXPECT_THAT(outlook().cause.message,
              StartsWith("2 PodDisruptionBudgets (web, web-2) select pod team-a/web"));
}

TEST_F(Outlook, OfARefusalIsAskedForAgainBeforeItIsTooOldAndOnceTheBudgetHasOpened) {
  world.add(budget("web", "app", "web", 0));
  answered(false, {.kind = ErrorKind::kThrottled,
                   .message = "Cannot evict",
                   .http_code = 429,
                   .causes = {{"DisruptionBudget", "", ""}}});
  EXPECT_FALSE(outlook().aging);
  world.now += world.settings.answer_ttl / 2 - 1ms;
  EXPECT_FALSE(outlook().aging);
  world.now += 1ms;
  EXPECT_TRUE(outlook().aging);
  EXPECT_EQ(outlook().kind, Kind::kNo) << "it still counts";

  world.add(budget("web", "app", "web", 1));
  EXPECT_EQ(outlook().kind, Kind::kUnknown) << "the budget's status says otherwise by now";
  answered(false, {.kind = ErrorKind::kThrottled,
                   .message = "Cannot evict",
                   .http_code = 429,
                   .causes = {{"DisruptionBudget", "", ""}}});
  world.now += world.settings.eviction_retry - 1ms;
  EXPECT_EQ(outlook().kind, Kind::kNo) << "too early to ask again";
  world.now += 1ms;
  EXPECT_EQ(outlook().kind, Kind::kUnknown);
}

TEST_F(Outlook, WhereNobodyCanBeAskedIsWhatTheBudgetsSay) {
  const auto offline = [&] { return outlook(true); };
  EXPECT_EQ(offline().kind, Kind::kYes) << "no budget";
  world.add(budget("web", "app", "web", 1));
  EXPECT_EQ(offline().kind, Kind::kYes);
  world.add(budget("web", "app", "web", 0));
  EXPECT_EQ(offline().kind, Kind::kNo);
  EXPECT_EQ(offline().cause.reason, reasons::kPodDisruptionBudget);
  EXPECT_THAT(offline().cause.message, HasSubstr(": it needs 1 healthy pods and has 1;"));
  world.add(Pod(pod("web").gpu(1).on("n1").label("app", "web").phase(PodPhase::kPending)));
  EXPECT_EQ(offline().kind, Kind::kYes) << "one that does not run yet costs no budget";
  world.add(web()).add(budget("web", "app", "web", 5)).add(budget("web-2", "app", "web", 5));
  EXPECT_EQ(offline().kind, Kind::kNo);
  EXPECT_THAT(offline().cause.message, StartsWith("2 PodDisruptionBudgets (web, web-2)"));
}

}  // namespace
}  // namespace berth::test
