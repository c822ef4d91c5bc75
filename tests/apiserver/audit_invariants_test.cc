// SPDX-License-Identifier: Apache-2.0
// Tests of the checker that other tests use: a correct rollout passes, and one wrong log per
// invariant is detected. No control plane is needed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/apiserver/doctored_log.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// One node through a whole rollout, with a GPU pod that is evicted.
Log clean_rollout() {
  Log log;
  log.file("all-disabled berth-a-1").node(kKubectl, {}).pod("Running");
  log.node(kBerth, {.cordoned = true, .phase = "Cordoned"});
  log.evict().pod("Succeeded").pod("Succeeded", "n1", "delete", 0);
  log.node(kBerth, {.config = "berth-a-1", .state = "", .cordoned = true, .phase = "Applying"});
  log.node("nvidia-mig-manager",
           {.config = "berth-a-1", .state = "success", .cordoned = true, .phase = "Applying"});
  log.node(kBerth, {.config = "berth-a-1", .state = "success", .phase = "Idle"});
  return log;
}

TEST(Invariants, ACleanRolloutKeepsThemAll) { EXPECT_THAT(clean_rollout().broken(), IsEmpty()); }

TEST(Invariants, I1ALabelOnASchedulableNodeIsFound) {
  Log log;
  log.node(kKubectl, {}).node(kBerth, {.config = "berth-a-1", .state = "", .phase = "Applying"});
  EXPECT_THAT(log.broken(),
              ::testing::Contains(HasSubstr("I1 n1 gets berth-a-1 while it is schedulable")));
}

TEST(Invariants, I1ALabelUnderARunningGpuPodIsFound) {
  Log log;
  log.node(kKubectl, {}).pod("Running");
  log.node(kBerth, {.cordoned = true, .phase = "Cordoned"});
  log.node(kBerth, {.config = "berth-a-1", .state = "", .cordoned = true, .phase = "Applying"});
  log.node(kBerth, {.config = "berth-a-1", .state = "", .phase = "Idle"});
  EXPECT_THAT(log.broken(),
              ElementsAre(HasSubstr("I1 n1 gets berth-a-1 under the GPU pod team-a/p1")));
}

TEST(Invariants, I1ATerminatingPodStillCounts) {
  Log log;
  log.node(kKubectl, {}).pod("Running");
  log.node(kBerth, {.cordoned = true, .phase = "Cordoned"}).evict();
  log.node(kBerth, {.config = "berth-a-1", .state = "", .cordoned = true, .phase = "Applying"});
  EXPECT_THAT(log.broken({.all_returned = false}),
              ElementsAre(HasSubstr("I1 n1 gets berth-a-1 under the GPU pod")));
}

TEST(Invariants, I1AnOldStateLeftBehindIsFound) {
  Log log;
  log.node(kKubectl, {}).node(kBerth, {.cordoned = true, .phase = "Cordoned"});
  log.node(kBerth,
           {.config = "berth-a-1", .state = "success", .cordoned = true, .phase = "Applying"});
  EXPECT_THAT(log.broken({.all_returned = false}),
              ElementsAre(HasSubstr("keeps the old state success")));
}

TEST(Invariants, I1AConfigThatTheAgentLacksIsFound) {
  Log log;
  log.file("all-disabled").node(kKubectl, {}).node(kBerth, {.cordoned = true, .phase = "Cordoned"});
  log.node(kBerth, {.config = "berth-a-1", .state = "", .cordoned = true, .phase = "Applying"});
  EXPECT_THAT(log.broken({.all_returned = false}),
              ElementsAre(HasSubstr("which the agent's file does not have")));
}

TEST(Invariants, I2TwoNodesOutWithABudgetOfOneAreFound) {
  Log log;
  log.node(kKubectl, {.name = "n1"}).node(kKubectl, {.name = "n2"});
  log.node(kBerth, {.name = "n1", .cordoned = true, .phase = "Cordoned"});
  log.node(kBerth, {.name = "n2", .cordoned = true, .phase = "Cordoned"});
  EXPECT_THAT(log.broken({.max_unavailable = 1, .all_returned = false}),
              ElementsAre(StartsWith("I2 2 nodes are out")));
  EXPECT_THAT(log.broken({.max_unavailable = 2, .all_returned = false}), IsEmpty());
}

TEST(Invariants, I3APersonsCordonUndoneIsFound) {
  Log log;
  log.node(kKubectl, {}).node(kKubectl, {.cordoned = true}).node(kBerth, {.phase = "Idle"});
  EXPECT_THAT(log.broken(), ElementsAre(StartsWith("I3 n1 was not cordoned by berth")));
}

// The sender died before the answer, but etcd had applied the write: another client's next write
// shows it.
TEST(Invariants, I3ACordonAnswered504IsBerthsOwn) {
  const auto story = [](int code) {
    Log log;
    log.node(kKubectl, {});
    log.write(kBerth, "patch", "nodes", "n1", "null", "null", code);
    log.node("kube-controller-manager", {.cordoned = true, .phase = "Cordoned"});
    return log.node(kBerth, {.phase = "Idle"}).broken();
  };
  EXPECT_THAT(story(504), IsEmpty());
  EXPECT_THAT(story(409), ElementsAre(StartsWith("I3 n1 was not cordoned by berth")));
}

TEST(Invariants, I3AHeldNodeReturnedIsFound) {
  Log log;
  log.node(kKubectl, {}).node(kBerth, {.cordoned = true, .phase = "Cordoned"});
  log.node(kKubectl, {.cordoned = true, .phase = "Cordoned", .hold = "yes"})
      .node(kBerth, {.phase = "Idle", .hold = "yes"});
  EXPECT_THAT(log.broken(), ElementsAre(StartsWith("I3 n1 is held by a person")));
}

TEST(Invariants, I3ANodeNeverReturnedIsFound) {
  Log log;
  log.node(kKubectl, {}).node(kBerth, {.cordoned = true, .phase = "Cordoned"});
  EXPECT_THAT(log.broken(),
              ElementsAre(StartsWith("I3 n1 was cordoned by berth and never returned")));
}

TEST(Invariants, I4CapacityBelowTheGuardIsFound) {
  Log log;
  log.node(kKubectl, {.name = "n1"}).node(kKubectl, {.name = "n2"});
  log.node(kBerth, {.name = "n1", .cordoned = true, .phase = "Cordoned"});
  const InvariantOptions five{.all_returned = false, .min_available = {{"nvidia.com/gpu", 5}}};
  const InvariantOptions four{.all_returned = false, .min_available = {{"nvidia.com/gpu", 4}}};
  EXPECT_THAT(log.broken(five), ElementsAre(StartsWith("I4 4 of nvidia.com/gpu are left")));
  EXPECT_THAT(log.broken(four), IsEmpty());
}

TEST(Invariants, I5AnEvictionFromANodeThatIsRightIsFound) {
  Log log;
  log.node(kKubectl, {.config = "berth-a-1"}).pod("Running");
  log.node(kBerth, {.config = "berth-a-1", .cordoned = true, .phase = "Draining"}).evict();
  EXPECT_THAT(log.broken({.all_returned = false}),
              ElementsAre(HasSubstr("which is berth-a-1 already")));
}

TEST(Invariants, I5AnEvictionFromANodeNotTakenIsFound) {
  Log log;
  log.node(kKubectl, {}).pod("Running").evict();
  EXPECT_THAT(
      log.broken(),
      ElementsAre(StartsWith("I5 team-a/p1 is evicted from n1, which berth has not taken")));
}

TEST(Invariants, I7ASecondRelabelInOneAttemptIsFound) {
  Log log = clean_rollout();
  log.node(kBerth, {.config = "berth-a-1", .cordoned = true, .phase = "Cordoned"});
  log.node(kKubectl, {.config = "other", .state = "", .cordoned = true, .phase = "Applying"});
  log.node(kBerth, {.config = "berth-a-1", .state = "", .cordoned = true, .phase = "Applying"});
  EXPECT_THAT(log.broken({.all_returned = false}),
              ElementsAre(StartsWith("I7 n1 gets berth-a-1 twice")));
}

TEST(Invariants, I7ASecondAttemptIsAllowed) {
  Log log;
  log.node(kKubectl, {}).node(kBerth, {.cordoned = true, .phase = "Cordoned"});
  log.node(kBerth, {.config = "berth-a-1", .state = "", .cordoned = true, .phase = "Applying"});
  log.node(
      kBerth,
      {.config = "berth-a-1-r1", .state = "", .cordoned = true, .phase = "Applying", .attempt = 2});
  EXPECT_THAT(log.broken({.all_returned = false}), IsEmpty());
}

TEST(Invariants, S3ADeletedPodIsFoundUnlessForceIsAllowed) {
  Log log;
  log.node(kKubectl, {}).pod("Running");
  log.write(kBerth, "delete", "pods", "p1",
            R"({"kind":"Pod","metadata":{"deletionGracePeriodSeconds":30}})",
            R"({"gracePeriodSeconds":30})");
  EXPECT_THAT(log.broken(), ElementsAre(StartsWith("S3 team-a/p1 is deleted")));
  EXPECT_THAT(log.broken({.force_allowed = true}), IsEmpty());
}

TEST(Invariants, S3NoGraceIsFoundEvenWithForce) {
  Log log;
  log.node(kKubectl, {}).pod("Running");
  log.write(kBerth, "delete", "pods", "p1", R"({"kind":"Pod","metadata":{}})",
            R"({"gracePeriodSeconds":0})");
  EXPECT_THAT(log.broken({.force_allowed = true}),
              ElementsAre(HasSubstr("with a grace period of 0")));
}

TEST(Invariants, S3AnEvictionWithoutUidIsFound) {
  Log log;
  log.node(kKubectl, {})
      .pod("Running")
      .node(kBerth, {.cordoned = true, .phase = "Draining"})
      .evict("");
  EXPECT_THAT(log.broken({.all_returned = false}),
              ElementsAre(StartsWith("S3 team-a/p1 is evicted without its uid")));
}

TEST(Invariants, S4ACordonWithoutItsRecordIsFound) {
  Log log;
  log.node(kKubectl, {}).node(kBerth, {.cordoned = true});
  EXPECT_THAT(log.broken({.all_returned = false}),
              ElementsAre(StartsWith("S4 n1 is cordoned without a record")));
}

TEST(Invariants, S6AForeignLabelChangedIsFound) {
  Log log;
  log.node(kKubectl, {}).node(kBerth, {.extra_label = R"(,"example.com/tier":"x")"});
  EXPECT_THAT(log.broken(), ElementsAre(StartsWith("S6 n1: label example.com/tier changes")));
}

TEST(AuditLog, WritesAreOrderedByRevisionAndReadsAreLeftOut) {
  const auto events = parse_audit_log(
      R"({"stage":"ResponseComplete","verb":"get","stageTimestamp":"1","responseStatus":{"code":200}})"
      "\n"
      R"({"stage":"ResponseComplete","verb":"patch","objectRef":{"name":"later"},"stageTimestamp":"2","responseStatus":{"code":200},"responseObject":{"metadata":{"resourceVersion":"12"}}})"
      "\n"
      R"({"stage":"ResponseComplete","verb":"patch","objectRef":{"name":"earlier"},"stageTimestamp":"3","responseStatus":{"code":200},"responseObject":{"metadata":{"resourceVersion":"9"}}})"
      "\n"
      R"({"stage":"ResponseComplete","verb":"create","objectRef":{"name":"unnumbered"},"stageTimestamp":"4","responseStatus":{"code":201}})"
      "\n"
      R"({"stage":"ResponseComplete","verb":"pat)");
  std::vector<std::string> names;
  for (const AuditEvent& event : events) names.push_back(event.name);
  EXPECT_THAT(names, ElementsAre("earlier", "later", "unnumbered"));
}

// A patch of a node: when it was received and answered, its sender, and its body.
std::string node_patch(int received, int answered, const char* agent, const char* revision,
                       const char* request, bool cordoned) {
  return fmt::format(
      R"({{"stage":"ResponseComplete","verb":"patch","userAgent":"{}","objectRef":{{"resource":"nodes","name":"n1"}},)"
      R"("requestReceivedTimestamp":"{}","stageTimestamp":"{}","responseStatus":{{"code":200}},"requestObject":{},)"
      R"("responseObject":{{"metadata":{{"resourceVersion":"{}","labels":{{"state":"success"}}}},"spec":{{"unschedulable":{}}}}}}})"
      "\n",
      agent, received, answered, request, revision, cordoned);
}

std::vector<std::string> agents_in_order(const std::string& log) {
  std::vector<std::string> out;
  for (const AuditEvent& event : parse_audit_log(log)) out.push_back(event.user_agent);
  return out;
}

TEST(AuditLog, OneWhoWasShownAnothersWriteByAPatchOfNothingStandsBehindTheWriter) {
  constexpr char kCordon[] = R"([{"op":"add","path":"/spec/unschedulable","value":true}])";
  constexpr char kSame[] = R"({"metadata":{"labels":{"state":"success"}}})";
  constexpr char kOther[] = R"({"metadata":{"labels":{"state":"pending"}}})";
  const std::string first = node_patch(1, 2, "agent", "7", kSame, false);
  // It was sent before the writer's request and answered before it.
  EXPECT_THAT(agents_in_order(first + node_patch(3, 5, "mig-manager", "8", kSame, true) +
                              node_patch(4, 6, "berth", "8", kCordon, true)),
              ElementsAre("agent", "berth", "mig-manager"));
  // It is unknown whether both requests change nothing: the first sender counts as the writer.
  EXPECT_THAT(agents_in_order(first + node_patch(4, 5, "mig-manager", "8", kOther, true) +
                              node_patch(3, 6, "berth", "8", kCordon, true)),
              ElementsAre("agent", "berth", "mig-manager"));
}

}  // namespace
}  // namespace berth::test
