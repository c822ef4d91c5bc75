// SPDX-License-Identifier: Apache-2.0
// Objects that the API server accepts and berth can't carry out: berth reports field and remedy on
// the object, touches no node, and still serves all other objects. bad_manifests_test.cc has what
// the server refuses.
#include <algorithm>

#include "tests/apiserver/rollout_fixture.h"

namespace berth::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kRollout[] = "gpu.berth.dev/mig-rollout";
constexpr char kLedger[] = "berth-node-slots";

struct BadLayout {
  std::string says;   // the fault
  std::string node;   // the selected node
  std::string field;  // the field in the condition's message
  std::vector<std::string> words;
  std::string devices;
};

class BadInput : public RolloutTest {
 protected:
  Layout on(const std::string& node, const std::string& name) {
    return {.name = name, .node_selector = "{matchLabels: {kubernetes.io/hostname: " + node + "}}"};
  }
  // A node that feature discovery has left, so that the test sets its labels.
  void label(const std::string& node, const std::string& key, const std::string& value) {
    kube().set_label({"nodes", node}, "nvidia.com/gpu.deploy.gpu-feature-discovery", "false");
    wait_for("discovery to have left " + node, 20, [&]() -> std::string {
      for (const Object& pod : cluster().pods_on(node))
        if (pod.label("app") == "gpu-feature-discovery") return "it runs";
      return "";
    });
    kube().set_label({"nodes", node}, key, value);
  }
  bool touched(const std::string& node) {
    const auto all = writes();
    return std::any_of(all.begin(), all.end(), [&](const AuditEvent& event) {
      return event.resource == "nodes" && event.name == node;
    });
  }
  void wait_gone(const std::string& name) {
    wait_for(name + " to be gone", 20, [&]() -> std::string {
      return kube().find({"miglayouts", name}) ? "it is there" : "";
    });
  }
  void patch_ledger(const std::string& body) {
    kube().patch({"configmaps", kLedger, "berth-system"}, PatchType::kMerge, body);
  }
};

TEST_F(BadInput, LayoutsThatCantBeLaidOutAreStalledAndTouchNothing) {
  cluster().add_gpu_nodes(4, {});
  cluster().wait_agents_running();
  label("n3", "nvidia.com/gpu.product", "NVIDIA-Z9000-PCIE-1TB");
  label("n4", "nvidia.com/mig.strategy", "single");
  start_berth();
  apply(on("n1", "good"));
  wait_ready("good");

  const std::string d0 = "spec.devices[0].profiles";
  for (const BadLayout& c : std::vector<BadLayout>{
           {"a profile that no GPU has", "n2", d0, {"9g.90gb"}, "  - profiles: {9g.90gb: 1}\n"},
           {"a profile of the A100 40GB",
            "n2",
            d0,
            {"1g.5gb", "mean"},
            "  - profiles: {1g.5gb: 7}\n"},
           {"a profile that has no such attribute",
            "n2",
            d0,
            {"1g.10gb+gfx"},
            "  - profiles: {1g.10gb+gfx: 1}\n"},
           {"profiles that don't fit together",
            "n2",
            d0,
            {"nearest that fit"},
            "  - profiles: {3g.40gb: 2, 1g.10gb: 1}\n"},
           {"more than fit", "n2", d0, {"16"}, "  - profiles: {1g.10gb: 16}\n"},
           {"a GPU that is not there",
            "n2",
            "spec.devices[0].gpus",
            {"GPU 4", "0 to 3"},
            "  - gpus: [0, 4]\n    profiles: {7g.80gb: 1}\n  - profiles: {}\n"},
           {"GPUs in no entry",
            "n2",
            "spec.devices",
            {"2", "without gpus"},
            "  - gpus: [0, 1]\n    profiles: {7g.80gb: 1}\n"},
           {"an unknown product",
            "n3",
            "",
            {"NVIDIA-Z9000-PCIE-1TB"},
            "  - profiles: {1g.10gb: 7}\n"},
           {"a heterogeneous layout under strategy single",
            "n4",
            "spec.devices",
            {"single", "mixed"},
            "  - profiles: {3g.40gb: 1, 2g.20gb: 1, 1g.10gb: 2}\n"},
       }) {
    SCOPED_TRACE(c.says);
    Layout bad = on(c.node, "bad");
    bad.devices = c.devices;
    apply(bad);
    wait_condition("Stalled", "True", 20, "bad");
    const Object now = layout("bad");
    const std::string message = now.condition("Stalled", "message");
    EXPECT_THAT(message, HasSubstr(c.field));
    EXPECT_THAT(message, HasSubstr(c.node));
    for (const std::string& word : c.words) EXPECT_THAT(message, HasSubstr(word));
    EXPECT_EQ(now.condition("Ready"), "False");
    EXPECT_EQ(now.number("/status/nodes/blocked"), 1) << now.at("/status").dump();
    kube().remove({"miglayouts", "bad"});
    wait_gone("bad");
    EXPECT_FALSE(touched(c.node));
  }

  // The controller still works.
  kube().patch({"miglayouts", "good"}, PatchType::kMerge,
               R"({"spec": {"devices": [{"profiles": {"7g.80gb": 1}}]}})");
  wait_ready("good");
}

TEST_F(BadInput, ALayoutFixedIsTakenUp) {
  cluster().add_gpu_nodes(1, {});
  cluster().wait_agents_running();
  start_berth();
  apply({.devices = "  - gpus: [0]\n    profiles: {1g.10gb: 7}\n"});
  wait_condition("Stalled", "True", 20);
  apply({});
  wait_ready();
  EXPECT_EQ(layout().condition("Stalled"), "");
}

TEST_F(BadInput, TheLongestNameStillMakesLabelsWithRoomForRetries) {
  const std::string name = "9.longest-" + std::string(29, 'x') + "9";
  cluster().add_gpu_nodes(1, {.annotations = {{"test.berth.dev/fault", "fail-once"}}});
  cluster().wait_agents_running();
  start_berth();
  apply({.name = name});
  wait_ready(name);
  EXPECT_THAT(kube().get({"nodes", "n1"}).label("nvidia.com/mig.config"), HasSubstr("-r1"));
}

TEST_F(BadInput, WhatSelectsNothingSaysSo) {
  cluster().add_gpu_nodes(1, {});
  start_berth();
  apply({.name = "nothing", .spec = {"productSelector: [NVIDIA-H100-80GB-HBM3]"}});
  wait_condition("Ready", "False", 20, "nothing");
  EXPECT_EQ(layout("nothing").condition("Ready", "reason"), "NoNodesSelected");
  EXPECT_EQ(layout("nothing").number("/status/nodes/selected"), 0);
}

TEST_F(BadInput, JunkThatPeopleWriteOnNodesStopsThatNodeAlone) {
  cluster().add_gpu_nodes(6, {});
  cluster().wait_agents_running();
  const std::string nested(5000, '[');
  const std::string far =
      R"({"seq":9223372036854775807,"phase":"Idle","since":"2026-11-21T12:00:00Z"})";
  kube().set_annotation({"nodes", "n2"}, kRollout, "größer ist besser 🚀");
  kube().set_annotation({"nodes", "n3"}, kRollout, far);
  kube().set_annotation({"nodes", "n4"}, kRollout, nested);
  std::string long_words;
  for (int i = 0; i < 400; ++i) long_words += "é🚀\\\"\n";
  kube().set_annotation({"nodes", "n5"}, "gpu.berth.dev/hold", "x" + long_words);
  kube().set_annotation({"nodes", "n6"}, "gpu.berth.dev/gpu-inventory", nested);
  label("n6", "nvidia.com/gpu.count", "99999999999999999999");
  start_berth();
  apply({});
  for (const char* node : {"n2", "n3", "n4"}) wait_reason(node, "Contested");
  wait_reason("n5", "Held");
  wait_reason("n6", "InventoryUnknown");
  EXPECT_THAT(detail("n2"), HasSubstr("remove it"));
  EXPECT_THAT(detail("n6"), HasSubstr("gpu.count"));
  wait_for("n1 to be updated", 40, [&]() -> std::string {
    const Object status = layout().at("/status");
    return status.number("/nodes/updated") == 1 ? "" : status.dump();
  });
  for (const char* node : {"n2", "n3", "n4", "n5", "n6"}) EXPECT_FALSE(touched(node)) << node;

  // After the advised repairs, everything continues.
  for (const char* node : {"n2", "n3", "n4"}) kube().set_annotation({"nodes", node}, kRollout, "");
  kube().set_annotation({"nodes", "n5"}, "gpu.berth.dev/hold", "");
  kube().set_annotation({"nodes", "n6"}, "gpu.berth.dev/gpu-inventory",
                        R"({"product":"NVIDIA-A100-SXM4-80GB","count":4})");
  wait_ready();
}

TEST_F(BadInput, ALedgerAndAnAgentsFileThatPeopleEditedAreMended) {
  cluster().add_gpu_nodes(2, {});
  cluster().wait_agents_running();
  start_berth();
  apply(on("n1", "first"));
  wait_ready("first");
  patch_ledger(
      R"({"metadata": {"annotations": {"gpu.berth.dev/epoch": "9223372036854775807"}},
          "data": {"n1": "🚀", "n2": "{\"uid\":7}", "gone": "{}"}})");
  wait_for("the junk to be swept", 20, [&]() -> std::string {
    const auto slots = kube().get({"configmaps", kLedger, "berth-system"}).strings("/data");
    return slots.empty() ? "" : slots.begin()->first;
  });
  kube().patch({"configmaps", "berth-mig-parted-config", "gpu-operator"}, PatchType::kMerge,
               R"({"data": {"config.yaml": "version: [💥"}})");
  stop_berth();
  start_berth();
  apply(on("n2", "second"));
  wait_ready("second");
  EXPECT_EQ(cluster().gpu_allocatable("n2"), kMixedA100);
  wait_ready("first");
  EXPECT_THAT(kube().get({"configmaps", kLedger, "berth-system"}).strings("/data"), IsEmpty());
}

// An edit can't be distinguished from a successor's epoch, and a leader that ignores it could never
// act again. Therefore it exits, and the next leader starts above that epoch.
TEST_F(BadInput, AnEpochThatSomebodyRaisedEndsTheLeaderAndTheNextOneGoesOn) {
  cluster().add_gpu_nodes(1, {});
  cluster().wait_agents_running();
  start_berth();
  apply({.name = "nothing", .node_selector = "{matchLabels: {tier: none}}"});
  wait_condition("Ready", "False", 20, "nothing");
  patch_ledger(R"({"metadata": {"annotations": {"gpu.berth.dev/epoch": "100"}}})");
  EXPECT_NE(berth().process().wait(std::chrono::seconds(120)).value_or(0), 0);
  start_berth();
  apply({});
  wait_ready();
  EXPECT_EQ(kube().get({"configmaps", kLedger, "berth-system"}).annotation("gpu.berth.dev/epoch"),
            "101");
}

TEST_F(BadInput, ALedgerDeletedInMidRolloutComesBackAndTheBudgetHolds) {
  cluster().add_gpu_nodes(3, {.annotations = {{"test.berth.dev/fault", "slow:1500"}}});
  cluster().wait_agents_running();
  start_berth();
  apply({});
  wait_phase("n1", "Applying");
  kube().remove({"configmaps", kLedger, "berth-system"});
  wait_ready();
  for (const char* node : {"n1", "n2", "n3"}) EXPECT_FALSE(cordoned(node)) << node;
}

}  // namespace
}  // namespace berth::test
