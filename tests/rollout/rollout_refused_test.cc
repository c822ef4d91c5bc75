// SPDX-License-Identifier: Apache-2.0
// What stops a rollout and used to be silent: writes that the API server refuses, pods that come
// back to a cordoned node, and pods that never leave it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "tests/rollout/rollout.h"

namespace berth::test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kThreeNodes[] = "nodes: [{count: 3, labels: {tier: mig}}]\n";
constexpr char kRetire[] = "rollout: {order: Name}, capacityGuard: {retire: [nvidia.com/gpu]}";

// --- writes that are refused ---

TEST(Refusal, OfACordonTheOthersGoAndTheNodeFollowsOnceItIsLetThrough) {
  Rollout world(kThreeNodes);
  world.act("refuse: all, write: cordon, of: n1, for: 40m");
  world.apply_layout("small", kRetire);
  ASSERT_TRUE(world.run_until([&] { return world.offered("n3", "mig-1g.10gb") == 28; }))
      << world.details("small");
  ASSERT_TRUE(
      world.run_until([&] { return !world.condition("small", "Stalled").empty(); }, minutes(10)));
  EXPECT_THAT(world.condition("small", "Stalled"),
              AllOf(HasSubstr("WriteRefused: n1: the API server refuses it (cordon for MIGLayout "
                              "small): \"ValidatingAdmissionPolicy 'platform'"),
                    HasSubstr("ask the platform team")));
  EXPECT_EQ(world.counts("small"),
            "selected 3 updated 2 inProgress 0 blocked 1 failed 0 pending 0");
  EXPECT_TRUE(world.run_until([&] { return world.ledger().empty(); }, minutes(10)))
      << "its slot is taken for each try alone";
  EXPECT_THAT(world.events(), Contains("Node/n1 WriteRefused"));
  EXPECT_LT(world.count_writes("cordon for MIGLayout small [rejected]"), 40);
  EXPECT_TRUE(world.run_until_ready("small")) << world.details("small");
}

TEST(Refusal, OfALabelTheNodeIsPutBackAndTheOthersGo) {
  Rollout world(kThreeNodes);
  world.act("refuse: all, write: mig.config, of: n1, for: 40m");
  world.apply_layout("small", std::string(kRetire) + ", drain: {timeout: 5m}");
  ASSERT_TRUE(world.run_until_phase("n1", "Cordoned"));
  world.run_for(minutes(1));
  EXPECT_THAT(world.detail("small", "n1"),
              AllOf(HasSubstr("Cordoned WriteRefused: the API server refuses it (apply berth-"),
                    HasSubstr("ask the platform team")));
  EXPECT_THAT(world.condition("small", "Stalled"), HasSubstr("WriteRefused"));
  EXPECT_THAT(world.events(), Contains("Node/n1 WriteRefused"));
  ASSERT_TRUE(world.run_until([&] { return !world.cordoned("n1"); }, minutes(5)));
  ASSERT_TRUE(world.run_until([&] { return world.offered("n3", "mig-1g.10gb") == 28; }));
  EXPECT_TRUE(world.run_until_ready("small")) << world.details("small");
}

TEST(Refusal, OfAnUncordonIsToldUntilItIsLetThrough) {
  Rollout world(kThreeNodes);
  world.act("refuse: all, write: uncordon, of: n1, for: 20m");
  world.apply_layout("small", kRetire);
  ASSERT_TRUE(world.run_until([&] { return world.offered("n1", "mig-1g.10gb") == 28; }));
  world.run_for(minutes(2));
  EXPECT_THAT(world.detail("small", "n1"),
              AllOf(HasSubstr("Verifying WriteRefused: "), HasSubstr("is verified: uncordon")));
  EXPECT_THAT(world.condition("small", "Stalled"), HasSubstr("WriteRefused"));
  EXPECT_TRUE(world.run_until_ready("small")) << world.details("small");
}

TEST(Refusal, OfEveryWriteOfANodeKeepsNoSlotEither) {
  Rollout world(kThreeNodes);
  world.act("refuse: all, write: node, of: n1, for: 40m");
  world.apply_layout("small", kRetire);
  EXPECT_TRUE(
      world.run_until([&] { return world.offered("n3", "mig-1g.10gb") == 28; }, minutes(30)))
      << world.details("small");
  EXPECT_TRUE(world.run_until_ready("small")) << world.details("small");
}

TEST(Refusal, OfTheAgentsFileIsToldOfTheNodes) {
  Rollout world(kThreeNodes);
  world.act("refuse: all, write: agents-file, for: 10m");
  world.apply_layout("small", kRetire);
  world.run_for(minutes(2));
  EXPECT_THAT(world.condition("small", "Stalled"),
              AllOf(HasSubstr("WriteRefused"), HasSubstr("ConfigMap berth-mig-parted-config")));
  EXPECT_FALSE(world.cordoned("n1"));
  EXPECT_TRUE(world.run_until_ready("small")) << world.details("small");
}

// --- pods that come back ---

// A ReplicaSet of one pod on n1; `more` are further fields of the pod's spec.
std::string replica_set(const std::string& more) {
  return fmt::format(
      "{{apiVersion: apps/v1, kind: ReplicaSet, metadata: {{name: sticky, namespace: team-a}}, "
      "spec: {{replicas: 1, selector: {{matchLabels: {{app: sticky}}}}, template: {{metadata: "
      "{{labels: {{app: sticky}}}}, spec: {{{}, containers: [{{name: main, image: i, resources: "
      "{{requests: {{nvidia.com/gpu: \"1\"}}, limits: {{nvidia.com/gpu: \"1\"}}}}}}]}}}}}}}}",
      more);
}
std::string with_objects(const std::string& objects) {
  return fmt::format("{}settings: {{abortBackoff: 1m}}\nobjects: [{}]\n", kThreeNodes, objects);
}

TEST(ComesBack, APinnedPodThatToleratesTheCordonIsFoundBeforeIt) {
  Rollout world(with_objects(replica_set(
      "tolerations: [{operator: Exists}], nodeSelector: {kubernetes.io/hostname: n1}")));
  world.apply_layout("small", kRetire);
  ASSERT_TRUE(world.run_until([&] { return world.offered("n3", "mig-1g.10gb") == 28; }));
  world.run_for(minutes(2));
  EXPECT_FALSE(world.cordoned("n1"));
  EXPECT_EQ(world.phase("n1"), "");
  EXPECT_EQ(world.count_writes("evict "), 0);
  EXPECT_THAT(world.detail("small", "n1"),
              AllOf(HasSubstr("Waiting ToleratesCordon: pod team-a/sticky-"),
                    HasSubstr("remove its toleration of node.kubernetes.io/unschedulable")));
  EXPECT_THAT(world.condition("small", "Stalled"), HasSubstr("ToleratesCordon"));
  world.act("edit: rs/team-a/sticky, patch: {spec: {replicas: 0}}");
  EXPECT_TRUE(world.run_until_ready("small")) << world.details("small");
}

TEST(ComesBack, APodWhoseControllerNamesTheNodeIsNotEvictedWithoutEnd) {
  Rollout world(with_objects(replica_set("nodeName: n1")));
  world.apply_layout("small", std::string(kRetire) + ", drain: {timeout: 3m}");
  ASSERT_TRUE(world.run_until_phase("n1", "Cordoned"));
  world.run_for(minutes(2));
  EXPECT_THAT(world.detail("small", "n1"),
              HasSubstr("Draining ToleratesCordon: pod team-a/sticky-"));
  EXPECT_LE(world.count_writes("evict Pod/team-a/sticky"), 3);
  ASSERT_TRUE(world.run_until([&] { return !world.cordoned("n1"); }, minutes(2)));
  world.run_for(seconds(10));
  EXPECT_THAT(world.detail("small", "n1"),
              AllOf(HasSubstr("BackingOff: its drain was given up 1 time, drain timed out: pod "
                              "team-a/sticky-"),
                    HasSubstr("tried again after")));
  world.act("delete: rs/team-a/sticky");
  EXPECT_TRUE(world.run_until_ready("small")) << world.details("small");
}

// --- pods that never leave ---

TEST(Stays, ADaemonSetThatHoldsGpusKeepsItsNodeInServiceAndTheOthersGo) {
  Rollout world(with_objects(
      "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: probe, namespace: team-a}, spec: "
      "{selector: {matchLabels: {app: probe}}, template: {metadata: {labels: {app: probe}}, spec: "
      "{nodeSelector: {kubernetes.io/hostname: n1}, containers: [{name: main, image: i, resources: "
      "{requests: {nvidia.com/gpu: \"1\"}, limits: {nvidia.com/gpu: \"1\"}}}]}}}}"));
  world.run_for(seconds(30));
  world.apply_layout("small", kRetire);
  ASSERT_TRUE(world.run_until([&] { return world.offered("n3", "mig-1g.10gb") == 28; }));
  world.run_for(minutes(2));
  EXPECT_FALSE(world.cordoned("n1"));
  EXPECT_THAT(world.detail("small", "n1"), HasSubstr("Waiting PodStays: pod team-a/probe-"));
  EXPECT_THAT(world.condition("small", "Stalled"), HasSubstr("DaemonSet probe brings it back"));
  world.act("delete: daemonset/team-a/probe");
  EXPECT_TRUE(world.run_until_ready("small")) << world.details("small");
}

}  // namespace
}  // namespace berth::test
