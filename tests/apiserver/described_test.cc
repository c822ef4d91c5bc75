// SPDX-License-Identifier: Apache-2.0
// The events that kubectl shows to users who describe a layout or the policy, in order. The chart's
// RBAC and admission policies must allow berth to write them.
#include <fmt/format.h>

#include "apis/base/names.h"
#include "tests/apiserver/chart_fixture.h"

namespace berth::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Described : public ChartTest {
 protected:
  std::string kubectl(std::vector<std::string> words) {
    words.insert(words.begin(), control_plane_binaries() + "/kubectl");
    static int calls = 0;
    const std::string log = plane().scratch() + "/kubectl-" + std::to_string(++calls) + ".log";
    Child child(words, log, {"KUBECONFIG=" + plane().write_kubeconfig("kubectl")});
    EXPECT_EQ(child.wait(std::chrono::seconds(30)), 0) << child.log_text();
    return child.log_text();
  }
  // The end of kubectl describe.
  std::string events_of(const std::string& kind, const std::string& name) {
    const std::string text = kubectl({"describe", kind, name});
    const std::size_t at = text.rfind("\nEvents:");
    return at == text.npos ? "" : text.substr(at);
  }
  void wait_event(const std::string& kind, const std::string& name, const std::string& words) {
    wait_for(kind + "/" + name + " to be told \"" + words + "\"", 40, [&]() -> std::string {
      const std::string told = events_of(kind, name);
      return told.find(words) == told.npos ? told : "";
    });
  }
  static std::size_t count(const std::string& text, const std::string& part) {
    std::size_t times = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++times;
    return times;
  }
};

TEST_F(Described, ALayoutTellsOfItsRolloutAndOfWhatBlocksIt) {
  cluster().add_gpu_nodes(2, {});
  cluster().wait_agents_running();
  const Said installed = install();
  ASSERT_EQ(installed.code, 0) << installed.text;
  start_berth_as_account();
  kube().set_annotation({"nodes", "n2"}, "gpu.berth.dev/hold", "mine");
  apply({.rollout = {"order: Name"}});
  wait_event("migl", "inference-a100", "RolloutStarted");
  wait_event("migl", "inference-a100", "node n1 updated, 1 of 2");
  wait_event("migl", "inference-a100", "Held: n2: held by a person");
  const std::string before = events_of("migl", "inference-a100");
  EXPECT_EQ(count(before, "RolloutBlocked"), 1u) << before;

  // A new leader reports nothing again.
  kill_berth();
  start_berth_as_account();
  kube().set_annotation({"nodes", "n2"}, "gpu.berth.dev/hold", "");
  wait_ready();
  wait_event("migl", "inference-a100", "2 of 2 nodes are up to date");
  const std::string told = events_of("migl", "inference-a100");
  EXPECT_THAT(told, AllOf(HasSubstr("node n2 updated, 2 of 2"), HasSubstr("RolloutFinished")));
  for (const char* reason : {"RolloutStarted", "RolloutBlocked", "RolloutFinished"})
    EXPECT_EQ(count(told, reason), 1u) << told;
  EXPECT_THAT(told, Not(HasSubstr("Warning")));
  EXPECT_THAT(events_of("node", "n1"), HasSubstr("Repartitioned"));
  EXPECT_THAT(refused_to_berth(), IsEmpty());
}

TEST_F(Described, WhatOnlyAPersonCanSolveIsAWarningAndADeletedLayoutIsToldToTheEnd) {
  cluster().add_gpu_nodes(1, {.annotations = {{"test.berth.dev/fault", "slow:3000"}}});
  cluster().wait_agents_running();
  ASSERT_EQ(install().code, 0);
  start_berth_as_account();
  apply({.devices = "  - profiles: {3g.40gb: 3}\n"});
  wait_event("migl", "inference-a100", "InvalidLayout: n1: ");
  EXPECT_THAT(events_of("migl", "inference-a100"), HasSubstr("Warning  RolloutBlocked"));
  apply({});
  wait_phase("n1", "Applying");
  kube().remove({"miglayouts", "inference-a100"});
  wait_for("the layout to say that it is being deleted", 20, [this]() -> std::string {
    for (const char* type : {"Ready", "Reconciling"})
      if (const std::string reason = layout().condition(type, "reason"); reason != "Deleting")
        return fmt::format("{}: {}", type, reason);
    return "";
  });
  wait_event("migl", "inference-a100", "waiting for n1 (");
  wait_for("the layout to be gone", 60, []() -> std::string {
    return kube().find({"miglayouts", "inference-a100"}) ? "it is there" : "";
  });
  wait_for("its last event", 20, [&]() -> std::string {
    const std::string told =
        kubectl({"events", "--namespace", "default", "--for", "MIGLayout/inference-a100"});
    return told.find("no node is in progress for it any more") == told.npos ? told : "";
  });
  EXPECT_THAT(refused_to_berth(), IsEmpty());
}

TEST_F(Described, ThePolicyTellsOfItsPools) {
  invariants_.pool_labels = {names::kPoolLabel};
  cluster().add_gpu_nodes(2, {});
  cluster().wait_agents_running();
  ASSERT_EQ(install().code, 0);
  start_berth_as_account();
  const auto apply_policy = [](const std::string& spec) {
    kube().apply(
        "apiVersion: gpu.berth.dev/v1alpha1\nkind: GPUClusterPolicy\nmetadata: {name: cluster}\n"
        "spec: {" +
        spec + "}\n");
  };
  apply_policy("pools: [{name: all, nodeSelector: {}}]");
  wait_event("gpupolicy", "cluster", "PoolsInPlace");
  apply_policy(
      "pools: [{name: all, nodeSelector: {}}], disruption: {blackouts: [{schedule: \"0 8 * * *\", "
      "duration: 1h, timeZone: Mars/Olympus}]}");
  wait_event("gpupolicy", "cluster", "Mars/Olympus");
  const std::string told = events_of("gpupolicy", "cluster");
  EXPECT_THAT(told, HasSubstr("Warning  PolicyBlocked"));
  EXPECT_EQ(count(told, "PolicyBlocked"), 1u) << told;
  kube().remove({"gpuclusterpolicies", "cluster"});
  wait_for("the policy to be gone", 60, []() -> std::string {
    return kube().find({"gpuclusterpolicies", "cluster"}) ? "it is there" : "";
  });
  EXPECT_THAT(refused_to_berth(), IsEmpty());
}

}  // namespace
}  // namespace berth::test
