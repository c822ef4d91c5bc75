// SPDX-License-Identifier: Apache-2.0
// Pods that were created without review, and those that needed none.
#include "controller/admission/bypass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/admission/reconcile_bypass.h"
#include "tests/admission/review_case.h"

namespace berth::test {
namespace {

const Time kPolicyMade = Time(std::chrono::hours(100));

ClusterState cluster_with_dated_policy() {
  ClusterState cluster = make_cluster();
  GPUClusterPolicy policy = *cluster.gpu_policies().find("cluster");
  policy.meta.creation_timestamp = kPolicyMade;
  cluster.upsert(policy, Time());
  return cluster;
}

Pod bare() {
  Pod pod;
  pod.meta.name = "p";
  pod.meta.namespace_ = "team-a";
  pod.meta.creation_timestamp = kPolicyMade + std::chrono::hours(1);
  pod.shape.edit()->requests = {{"nvidia.com/gpu", Quantity::whole(1)}};
  return pod;
}

TEST(Bypass, APodWithoutTolerationOrAffinityIsFound) {
  const ClusterState cluster = cluster_with_dated_policy();
  EXPECT_TRUE(slipped_past(bare(), cluster, Settings()));
  Pod complete = bare();
  complete.shape.edit()->tolerations = {{"nvidia.com/gpu", "Exists", "", ""}};
  EXPECT_TRUE(slipped_past(complete, cluster, Settings())) << "no affinity";
  complete.shape.edit()->node_selector = {{"gpu.berth.dev/pool", "training"}};
  EXPECT_FALSE(slipped_past(complete, cluster, Settings())) << "as its user wrote it";
  complete.shape.edit()->tolerations.clear();
  EXPECT_TRUE(slipped_past(complete, cluster, Settings())) << "no toleration";
}

TEST(Bypass, WhatTheWebhookHasSeenOrWouldNotLookAtIsNot) {
  ClusterState cluster = cluster_with_dated_policy();
  const auto found = [&](const std::function<void(Pod&)>& change) {
    Pod pod = bare();
    change(pod);
    return slipped_past(pod, cluster, Settings());
  };
  EXPECT_FALSE(found([](Pod& p) {
    p.meta.annotations = {{"gpu.berth.dev/mutations", "poolAffinity training"}};
  }));
  const auto as_mirror = [](Pod& p) {
    p.node_name = "t1";
    p.meta.annotations = {{"kubernetes.io/config.mirror", "x"}};
    p.meta.owner_references = {{"v1", "Node", "t1", "uid-t1", true}};
  };
  EXPECT_FALSE(found(as_mirror));
  EXPECT_TRUE(found([&](Pod& p) {
    as_mirror(p);
    p.meta.owner_references[0].uid = "another";
  })) << "anybody can write that";
  EXPECT_TRUE(found([&](Pod& p) {
    as_mirror(p);
    p.meta.annotations = {};
  })) << "a kubelet marks its own";
  EXPECT_FALSE(found([](Pod& p) { p.meta.namespace_ = "shop"; }));
  EXPECT_FALSE(found([](Pod& p) { p.meta.namespace_ = "unheard-of"; }));
  EXPECT_FALSE(found([](Pod& p) { p.meta.namespace_ = "gpu-operator"; }));
  EXPECT_FALSE(found([](Pod& p) { p.shape.edit()->requests = {{"cpu", Quantity::whole(1)}}; }));
  EXPECT_FALSE(found([](Pod& p) {
    p.shape.edit()->requests = {{"nvidia.com/nothing", Quantity::whole(1)}};
  }));
  EXPECT_FALSE(found([](Pod& p) { p.meta.creation_timestamp = Time(std::chrono::hours(1)); }))
      << "older than the policy";
  GPUClusterPolicy off = *cluster.gpu_policies().find("cluster");
  off.spec.admission.enforcement = Enforcement::kOff;
  cluster.upsert(off, Time());
  EXPECT_FALSE(found([](Pod&) {}));
}

// Whatever it tolerates and says about itself.
TEST(Bypass, APodInAPoolThatIsClosedToItIsFound) {
  ClusterState cluster = cluster_with_dated_policy();
  Pod thief = bare();
  thief.shape.edit()->requests = {{"nvidia.com/gpu.shared", Quantity::whole(1)}};
  thief.shape.edit()->tolerations = {{"", "Exists", "", ""}};
  thief.meta.owner_references = {{"x.example.com/v1", "Node", "a", "b", false}};
  thief.meta.annotations = {{"gpu.berth.dev/mutations", "poolAffinity development"}};
  EXPECT_FALSE(slipped_past(thief, cluster, Settings())) << "not there yet";
  EXPECT_TRUE(bypass_keys_for(cluster, Settings(), nullptr, &thief).empty());
  Pod bound = thief;
  bound.node_name = "d1";
  EXPECT_THAT(slipped_past(bound, cluster, Settings()).value_or(""),
              testing::HasSubstr("is in pool development, which is only for namespaces with "
                                 "team-risk=trusted"));
  EXPECT_THAT(bypass_keys_for(cluster, Settings(), &thief, &bound),
              testing::ElementsAre("pod/team-a/p"));
  EXPECT_THAT(bypass_keys_for(cluster, Settings(), nullptr, &bound),
              testing::ElementsAre("pod/team-a/p"));
  EXPECT_TRUE(bypass_keys_for(cluster, Settings(), &bound, &bound).empty()) << "looked at already";

  Pod welcome = bound;
  welcome.meta.namespace_ = "lab";
  EXPECT_FALSE(slipped_past(welcome, cluster, Settings()));
  Pod agent = bound;
  agent.meta.namespace_ = "gpu-operator";
  EXPECT_FALSE(slipped_past(agent, cluster, Settings()));
  Pod elsewhere = bound;
  elsewhere.node_name = "i1";
  EXPECT_FALSE(slipped_past(elsewhere, cluster, Settings()));
  Pod without = bound;  // like a node's monitoring
  without.shape.edit()->requests = {{"cpu", Quantity::whole(1)}};
  EXPECT_FALSE(slipped_past(without, cluster, Settings()));
  Pod of_kubelet = bound;
  of_kubelet.meta.annotations = {{"kubernetes.io/config.mirror", "x"}};
  of_kubelet.meta.owner_references = {{"v1", "Node", "d1", "uid-d1", true}};
  EXPECT_FALSE(slipped_past(of_kubelet, cluster, Settings()));

  cluster.upsert(bound, Time());
  EXPECT_THAT(all_bypass_keys(cluster, Settings()), testing::ElementsAre("pod/team-a/p"));
  GPUClusterPolicy warns = *cluster.gpu_policies().find("cluster");
  warns.spec.admission.enforcement = Enforcement::kWarn;
  cluster.upsert(warns, Time());
  EXPECT_FALSE(slipped_past(bound, cluster, Settings())) << "it was let in with a warning";
}

TEST(Bypass, IsToldOnceOnThePod) {
  ClusterState cluster = cluster_with_dated_policy();
  cluster.upsert(bare(), Time());
  const Pod* pod = cluster.pods().find("team-a", "p");
  EXPECT_EQ(bypass_keys_for(cluster, Settings(), nullptr, pod),
            std::vector<std::string>{"pod/team-a/p"});
  EXPECT_TRUE(bypass_keys_for(cluster, Settings(), pod, pod).empty()) << "looked at already";
  EXPECT_TRUE(bypass_keys_for(cluster, Settings(), pod, nullptr).empty());

  const Answers answers;
  const Settings settings;
  const Snapshot snapshot{.cluster = cluster, .answers = answers, .settings = settings};
  const Plan plan = reconcile_bypass(snapshot, "team-a/p");
  ASSERT_EQ(plan.events.size(), 1u);
  EXPECT_EQ(plan.events[0].reason, "SlippedPastAdmission");
  EXPECT_EQ(plan.events[0].regarding.str(), "Pod/team-a/p");
  EXPECT_TRUE(plan.objects.empty());
  for (const char* other : {"", "p", "team-a/", "/p", "team-b/p"})
    EXPECT_TRUE(reconcile_bypass(snapshot, other).events.empty()) << other;
}

// No leader may have seen their creation, and the policy may be newer than they are.
TEST(Bypass, ThoseThatStillWaitAreFoundAgain) {
  ClusterState cluster = cluster_with_dated_policy();
  const auto add = [&](const std::string& name, const std::function<void(Pod&)>& change) {
    Pod pod = bare();
    pod.meta.name = name;
    change(pod);
    cluster.upsert(pod, Time());
  };
  add("waits", [](Pod&) {});
  add("elsewhere", [](Pod& p) { p.meta.namespace_ = "lab"; });
  add("bound", [](Pod& p) { p.node_name = "n1"; });
  add("reviewed", [](Pod& p) { p.meta.annotations = {{"gpu.berth.dev/mutations", "limits x"}}; });
  add("cpu", [](Pod& p) { p.shape.edit()->requests = {{"cpu", Quantity::whole(1)}}; });
  const Settings settings;
  EXPECT_THAT(all_bypass_keys(cluster, settings),
              testing::UnorderedElementsAre("pod/team-a/waits", "pod/lab/elsewhere"));
  EXPECT_THAT(all_bypass_keys(cluster, settings, "lab"), testing::ElementsAre("pod/lab/elsewhere"));
  EXPECT_TRUE(all_bypass_keys(ClusterState(), settings).empty());
}

}  // namespace
}  // namespace berth::test
