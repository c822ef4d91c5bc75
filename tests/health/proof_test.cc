// SPDX-License-Identifier: Apache-2.0
// A node that was out for its health comes back when a pod has shown that its GPUs work.
#include "controller/health/proof.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "apis/names.h"
#include "tests/health/sick_cluster.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;

// Out, and nothing has been found for long enough: its proof has been made.
class ProvenCluster : public SickCluster {
 public:
  ProvenCluster() : SickCluster(10) {
    settings.proof.image = "registry.example/cuda:12";
    xid("n3", 1, 79);
    run();
    EXPECT_TRUE(is_out("n3"));
    pass(14min);
    EXPECT_EQ(proof(), nullptr) << "not before it would be put back";
    pass(1min);
    EXPECT_NE(proof(), nullptr);
  }
};

TEST(Proof, ANodeIsPutBackWhenItsProofHasPassedAndThePodGoes) {
  ProvenCluster sick;
  sick.pass(5min);
  EXPECT_TRUE(sick.is_out("n3")) << "the pod runs still";
  sick.settles = false;  // once it is back, its pod goes
  sick.end_proof(PodPhase::kSucceeded);
  sick.run();
  EXPECT_FALSE(sick.is_out("n3"));
  EXPECT_EQ(sick.record("n3")->phase, HealthPhase::kRecovered);
  EXPECT_NE(sick.proof(), nullptr) << "for as long as the node's patch may fail";
  sick.settles = true;
  sick.run();
  EXPECT_EQ(sick.proof(), nullptr);
}

TEST(Proof, ThePodIsPinnedToItsNodeToleratesItsCordonAndHoldsNothing) {
  const ProvenCluster sick;
  const Pod& pod = *sick.proof();
  EXPECT_EQ(pod.meta.namespace_.view(), sick.settings.berth_namespace);
  EXPECT_FALSE(uses_gpu(pod));
  ASSERT_EQ(pod.shape->required_node_affinity.size(), 1u);
  const std::vector<SelectorRequirement>& fields =
      pod.shape->required_node_affinity.front().match_fields;
  ASSERT_EQ(fields.size(), 1u);
  EXPECT_EQ(fields.front().key, "metadata.name");
  EXPECT_EQ(fields.front().values, (std::vector<Text>{"n3"}));
  EXPECT_TRUE(
      tolerates(pod.shape->tolerations, {"node.kubernetes.io/unschedulable", "", "NoSchedule"}));
  EXPECT_TRUE(tolerates(pod.shape->tolerations, {"nvidia.com/gpu", "present", "NoSchedule"}));
}

TEST(Proof, ThePodRunsWhatTheSettingsSay) {
  SickCluster sick(1);
  sick.settings.proof = {.image = "registry.example/cuda:12",
                         .command = " nvidia-smi  -q ",
                         .runtime_class = "nvidia"};
  const Node node = sick.node("n1");
  const json pod = json::parse(create_proof(sick.snapshot(), node, HealthRecord()).body);
  EXPECT_EQ(pod["spec"]["runtimeClassName"], "nvidia");
  EXPECT_EQ(pod["spec"]["automountServiceAccountToken"], false);
  const json& container = pod["spec"]["containers"][0];
  EXPECT_EQ(container["image"], "registry.example/cuda:12");
  EXPECT_EQ(container["command"], (json{"nvidia-smi", "-q"}));
  EXPECT_EQ(container["terminationMessagePolicy"], "FallbackToLogsOnError");
  EXPECT_EQ(container["env"][0], (json{{"name", "NVIDIA_VISIBLE_DEVICES"}, {"value", "all"}}));
}

TEST(Proof, AFailedProofKeepsTheNodeOutAndSaysWhy) {
  ProvenCluster sick;
  const std::string first = sick.proof()->meta.name;
  sick.settles = false;
  sick.end_proof(PodPhase::kFailed, "exit code 9: No devices were found");
  const Plan plan = sick.run();
  sick.settles = true;
  sick.run();
  EXPECT_TRUE(sick.is_out("n3"));
  EXPECT_EQ(sick.proof(), nullptr);
  EXPECT_EQ(sick.record("n3")->proof, "exit code 9: No devices were found");
  ASSERT_EQ(plan.events.size(), 1u);
  EXPECT_EQ(plan.events[0].reason, reasons::kProofFailed);
  EXPECT_THAT(plan.events[0].note, HasSubstr("exit code 9: No devices were found"));
  EXPECT_THAT(plan.events[0].note, HasSubstr("after 30m")) << "each failure doubles the wait";
  sick.pass(29min);
  EXPECT_EQ(sick.proof(), nullptr);
  sick.pass(1min);
  ASSERT_NE(sick.proof(), nullptr);
  EXPECT_NE(sick.proof()->meta.name, first);
  sick.settles = false;
  sick.end_proof(PodPhase::kSucceeded);
  sick.run();
  EXPECT_FALSE(sick.is_out("n3"));
  EXPECT_EQ(sick.record("n3")->proofs, 0);
}

TEST(Proof, OneThatDoesNotEndHasFailed) {
  ProvenCluster sick;
  Pod pod = *sick.proof();
  pod.trouble = "ImagePullBackOff";
  sick.cluster.upsert(std::move(pod), sick.now);
  sick.pass(14min);
  EXPECT_EQ(sick.record("n3")->proofs, 0);
  sick.settles = false;
  sick.pass(1min);
  EXPECT_EQ(sick.record("n3")->proof, "it has not ended within 15m: ImagePullBackOff");
  EXPECT_TRUE(sick.is_out("n3"));
}

TEST(Proof, ARestartFindsTheProofThatRuns) {
  ProvenCluster sick;
  const std::string name = sick.proof()->meta.name;
  sick.restart();
  sick.pass(5min);
  ASSERT_NE(sick.proof(), nullptr);
  EXPECT_EQ(sick.proof()->meta.name, name);
}

TEST(Proof, AFaultThatComesMeanwhileEndsIt) {
  ProvenCluster sick;
  sick.xid("n3", 0, 95);
  sick.run();
  EXPECT_EQ(sick.proof(), nullptr);
  EXPECT_TRUE(sick.is_out("n3"));
}

TEST(Proof, ANodeThatIsGoneOrOverruledLeavesNone) {
  ProvenCluster gone;
  gone.cluster.erase<Node>("", "n3");
  gone.run();
  EXPECT_EQ(gone.proof(), nullptr);

  ProvenCluster overruled;
  Node node = overruled.node("n3");
  node.unschedulable.reset();
  overruled.put(std::move(node));
  overruled.settles = false;
  overruled.run();
  overruled.run();
  EXPECT_EQ(overruled.proof(), nullptr);
}

TEST(Proof, APodThatIsNotBerthsProvesNothingAndStays) {
  ProvenCluster sick;
  Pod pod = *sick.proof();
  pod.meta.annotations = {};
  pod.phase = PodPhase::kSucceeded;
  sick.cluster.upsert(std::move(pod), sick.now);
  sick.settles = false;
  sick.run();
  sick.run();
  EXPECT_TRUE(sick.is_out("n3"));
  EXPECT_THAT(sick.record("n3")->proof, HasSubstr("is not berth's"));
  EXPECT_NE(sick.proof(), nullptr);
}

TEST(Proof, WhereFaultsAreOnlyToldNothingIsProven) {
  ProvenCluster sick;
  sick.policy.spec.health.action = HealthAction::kReport;
  sick.settles = false;
  sick.run();
  EXPECT_FALSE(sick.is_out("n3"));
  sick.run();
  EXPECT_EQ(sick.proof(), nullptr);
}

TEST(Proof, ARecordWithAFailedProofIsReadAsItWasWritten) {
  HealthRecord record{.node_uid = "u", .keys = "Hot/0", .findings = "hot", .cordons = 1};
  EXPECT_THAT(encode_health(record), Not(HasSubstr("proof"))) << "as it always was";
  record.proofs = 2;
  record.proof = "exit code 1: \"no\"";
  EXPECT_EQ(decode_health(encode_health(record)), record);
}

}  // namespace
}  // namespace berth::test
