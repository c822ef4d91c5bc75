// SPDX-License-Identifier: Apache-2.0
// The lifecycle of a pod on its node, and of a node that no longer reports.
#include "controller/sim/kube/kubelet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/sim/kube_world.h"

namespace berth::sim {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

struct KubeletTest : testing::Test, KubeWorld {
  KubeletTest() : KubeWorld({.bind_lag_max = 5ms}) { add_node("n1", 4); }
  std::string phase(const std::string& pod) const { return at("pods", pod, "/status/phase"); }
  std::string reason(const std::string& pod) const { return at("pods", pod, "/status/reason"); }
  void offer(const std::string& gpus) {
    merge("nodes", "n1", R"({"status":{"allocatable":{"nvidia.com/gpu":)" + gpus + "}}}", "status");
  }
};

TEST_F(KubeletTest, ABoundPodRunsAndIsReadyAfterItsStart) {
  add_pod("p", 1);
  run_for(500ms);
  EXPECT_EQ(phase("p"), "Pending");
  run_for(2s);
  EXPECT_EQ(phase("p"), "Running");
  EXPECT_EQ(condition("pods", "p", "Ready"), "True");
  EXPECT_NE(at("pods", "p", "/status/startTime"), "");
}

TEST_F(KubeletTest, ADeletedPodHoldsOnUntilItHasStopped) {
  add_pod("p", 1);
  run_for(3s);
  remove("pods", "p");
  run_for(1s);
  EXPECT_NE(at("pods", "p", "/metadata/deletionTimestamp"), "");
  EXPECT_EQ(phase("p"), "Running");
  run_for(2s);
  EXPECT_FALSE(exists("pods", "p"));
}

TEST_F(KubeletTest, AShortGraceBoundsTheStop) {
  add_pod("p", 1, R"({"terminationGracePeriodSeconds":1})");
  run_for(3s);
  remove("pods", "p");
  run_for(1200ms);
  EXPECT_FALSE(exists("pods", "p"));
}

TEST_F(KubeletTest, AFinalizerHoldsAStoppedPodAndItsLastStateCanBeRead) {
  add_pod("p", 1);
  merge("pods", "p", R"({"metadata":{"finalizers":["test.dev/count"]}})");
  run_for(3s);
  remove("pods", "p");
  run_for(5s);
  EXPECT_EQ(phase("p"), "Failed");
  merge("pods", "p", R"({"metadata":{"finalizers":null}})");
  EXPECT_FALSE(exists("pods", "p"));
}

TEST_F(KubeletTest, APodWhoseDevicesWentBeforeItCameIsRejectedForGood) {
  add_pod("p", 1);
  run_for(6ms);
  EXPECT_EQ(at("pods", "p", "/spec/nodeName"), "n1");
  offer(R"("0")");
  run_for(1s);
  EXPECT_EQ(phase("p"), "Failed");
  EXPECT_EQ(reason("p"), "UnexpectedAdmissionError");
  offer(R"("4")");
  run_for(1min);
  EXPECT_EQ(phase("p"), "Failed");
}

TEST_F(KubeletTest, APodThatFindsTooFewDevicesIsRejectedByName) {
  add_pod("first", 2);
  run_for(3s);
  add_pod("p", 2);
  run_for(6ms);
  offer(R"("3")");
  run_for(1s);
  EXPECT_EQ(phase("p"), "Failed");
  EXPECT_EQ(reason("p"), "OutOfnvidia.com/gpu");
  EXPECT_EQ(phase("first"), "Running") << "who runs keeps what it has";
}

TEST_F(KubeletTest, AHungPodStaysTerminating) {
  add_pod("p", 1);
  run_for(3s);
  kube.hang("team", "p");
  remove("pods", "p");
  run_for(1h);
  EXPECT_TRUE(exists("pods", "p"));
  EXPECT_EQ(phase("p"), "Running");
}

TEST_F(KubeletTest, AProcessThatEndsEndsThePodThatDoesNotRestartIt) {
  add_pod("once", 1, R"({"restartPolicy":"Never"})");
  add_pod("retried", 1, R"({"restartPolicy":"OnFailure"})");
  add_pod("service", 1);
  run_for(3s);
  for (const char* pod : {"once", "retried", "service"}) kube.finish("team", pod, false);
  run_for(1s);
  EXPECT_EQ(phase("once"), "Failed");
  EXPECT_EQ(phase("retried"), "Running");
  EXPECT_EQ(phase("service"), "Running");
  kube.finish("team", "retried", true);
  run_for(1s);
  EXPECT_EQ(phase("retried"), "Succeeded");
}

TEST_F(KubeletTest, ADeadKubeletNeitherStartsNorStopsAndDoesBothWhenItIsBack) {
  add_pod("old", 1);
  run_for(3s);
  kube.stop_kubelet("n1");
  EXPECT_FALSE(kube.is_alive("n1"));
  add_pod("new", 1);
  remove("pods", "old");
  run_for(30s);
  EXPECT_EQ(phase("new"), "Pending");
  EXPECT_TRUE(exists("pods", "old"));
  EXPECT_EQ(condition("nodes", "n1", "Ready"), "True KubeletReady") << "nobody has noticed yet";
  kube.start_kubelet("n1");
  run_for(5s);
  EXPECT_EQ(phase("new"), "Running");
  EXPECT_FALSE(exists("pods", "old"));
}

TEST_F(KubeletTest, ASilentNodeIsUnknownAfter40SecondsAndItsPodsLeaveIn300More) {
  add_pod("p", 1);
  add_pod("agent", 0, R"({"tolerations":[{"operator":"Exists"}]})");
  run_for(3s);
  kube.stop_kubelet("n1");
  run_for(39s);
  EXPECT_EQ(taints("n1"), "");
  run_for(2s);
  EXPECT_EQ(condition("nodes", "n1", "Ready"), "Unknown NodeStatusUnknown");
  EXPECT_EQ(taints("n1"), "unreachable");
  EXPECT_EQ(condition("pods", "p", "Ready"), "False NodeNotReady");
  run_for(290s);
  EXPECT_EQ(at("pods", "p", "/metadata/deletionTimestamp"), "");
  run_for(20s);
  EXPECT_NE(at("pods", "p", "/metadata/deletionTimestamp"), "") << "and stays so: nobody stops it";
  EXPECT_EQ(at("pods", "agent", "/metadata/deletionTimestamp"), "");
  kube.start_kubelet("n1");
  run_for(5s);
  EXPECT_FALSE(exists("pods", "p"));
  EXPECT_EQ(taints("n1"), "");
  EXPECT_THAT(condition("nodes", "n1", "Ready"), HasSubstr("True"));
  EXPECT_EQ(condition("pods", "agent", "Ready"), "True");
}

TEST_F(KubeletTest, ACordonIsATaintATenthOfASecondLaterAndOthersTaintsStay) {
  merge("nodes", "n1", R"({"spec":{"unschedulable":true,
      "taints":[{"key":"test.dev/mine","effect":"NoSchedule"}]}})");
  run_for(20ms);
  EXPECT_EQ(taints("n1"), "mine");
  run_for(200ms);
  EXPECT_EQ(taints("n1"), "mine unschedulable");
  merge("nodes", "n1", R"({"spec":{"unschedulable":null}})");
  run_for(200ms);
  EXPECT_EQ(taints("n1"), "mine");
}

TEST_F(KubeletTest, ANoExecuteTaintSendsAwayWhoDoesNotTolerateIt) {
  add_pod("p", 1);
  add_pod("patient", 1, R"({"tolerations":[{"key":"k","operator":"Exists"}]})");
  add_pod("hasty", 1, R"({"tolerations":[{"key":"k","operator":"Exists","effect":"NoExecute",
                                          "tolerationSeconds":60}]})");
  run_for(3s);
  merge("nodes", "n1", R"({"spec":{"taints":[{"key":"k","effect":"NoExecute"}]}})");
  run_for(5s);
  EXPECT_FALSE(exists("pods", "p"));
  EXPECT_TRUE(exists("pods", "hasty"));
  run_for(60s);
  EXPECT_FALSE(exists("pods", "hasty"));
  EXPECT_TRUE(exists("pods", "patient"));
}

TEST_F(KubeletTest, PodsOfANodeThatIsGoneAreRemovedAfterAWhile) {
  add_pod("p", 1);
  run_for(3s);
  kube.stop_kubelet("n1");
  remove("nodes", "n1");
  run_for(39s);
  EXPECT_TRUE(exists("pods", "p"));
  run_for(30s);
  EXPECT_FALSE(exists("pods", "p"));
}

TEST_F(KubeletTest, PodsOfANodeThatIsBackInTimeStay) {
  add_pod("p", 1);
  run_for(3s);
  remove("nodes", "n1");
  run_for(10s);
  add_node("n1", 4);
  run_for(5min);
  EXPECT_EQ(phase("p"), "Running");
}

TEST_F(KubeletTest, ASettledClusterIsQuietButForSparseHeartbeats) {
  add_pod("p", 1);
  run_for(1min);
  const auto before = simulation.store().revision();
  run_for(24h);
  EXPECT_LE(simulation.store().revision() - before, 24 * 60 / 2.5);
  EXPECT_GE(simulation.store().revision() - before, 24 * 60 / 7.5);
}

}  // namespace
}  // namespace berth::sim
