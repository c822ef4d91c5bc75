// SPDX-License-Identifier: Apache-2.0
// A node that was out of service for its health returns after a validation Job has succeeded there.
#include "controller/health/proof.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "tests/health/sick_cluster.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;

// Out of service, long enough without findings: its validation Job has been created.
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

TEST(Proof, ANodeIsPutBackWhenItsProofHasPassed) {
  ProvenCluster sick;
  sick.pass(5min);
  EXPECT_TRUE(sick.is_out("n3")) << "the Job runs still";
  sick.settles = false;
  sick.pass_proof();
  sick.run();
  EXPECT_FALSE(sick.is_out("n3"));
  EXPECT_EQ(sick.record("n3")->phase, HealthPhase::kRecovered);
  sick.pass(1h);
  EXPECT_EQ(sick.proof(), nullptr) << "nor is it proven again";
}

TEST(Proof, ItsPodIsPinnedToItsNodeToleratesItsCordonAndHoldsNothing) {
  const ProvenCluster sick;
  const Job& job = *sick.proof();
  EXPECT_EQ(job.meta.namespace_.view(), sick.settings.berth_namespace);
  EXPECT_TRUE(job.ignores_disruptions) << "that its pod is evicted says nothing of the GPUs";
  EXPECT_EQ(job.backoff_limit, 0);
  EXPECT_EQ(job.active_deadline_seconds, 900);
  const PodShape& shape = job.pod_shape;
  EXPECT_FALSE(shape->requests.get("nvidia.com/gpu").as_whole() > 0);
  ASSERT_EQ(shape->required_node_affinity.size(), 1u);
  const std::vector<SelectorRequirement>& fields =
      shape->required_node_affinity.front().match_fields;
  ASSERT_EQ(fields.size(), 1u);
  EXPECT_EQ(fields.front().key, "metadata.name");
  EXPECT_EQ(fields.front().values, (std::vector<Text>{"n3"}));
  EXPECT_TRUE(
      tolerates(shape->tolerations, {"node.kubernetes.io/unschedulable", "", "NoSchedule"}));
  EXPECT_TRUE(tolerates(shape->tolerations, {"nvidia.com/gpu", "present", "NoSchedule"}));
}

TEST(Proof, ItsPodRunsWhatTheSettingsSay) {
  SickCluster sick(1);
  sick.settings.proof = {.image = "registry.example/cuda:12",
                         .command = " nvidia-smi  -q ",
                         .runtime_class = "nvidia"};
  const Node node = sick.node("n1");
  const json job = json::parse(create_proof(sick.snapshot(), node, HealthRecord()).body);
  EXPECT_EQ(job["spec"]["podFailurePolicy"]["rules"][1]["action"], "FailJob");
  const json& pod = job["spec"]["template"]["spec"];
  EXPECT_EQ(pod["runtimeClassName"], "nvidia");
  EXPECT_EQ(pod["restartPolicy"], "Never");
  EXPECT_EQ(pod["automountServiceAccountToken"], false);
  const json& container = pod["containers"][0];
  EXPECT_EQ(container["image"], "registry.example/cuda:12");
  EXPECT_EQ(container["command"], (json{"nvidia-smi", "-q"}));
  EXPECT_EQ(container["env"][0], (json{{"name", "NVIDIA_VISIBLE_DEVICES"}, {"value", "all"}}));
}

TEST(Proof, AFailedProofKeepsTheNodeOutAndSaysWhy) {
  ProvenCluster sick;
  const std::string first = sick.proof()->meta.name;
  sick.settles = false;
  sick.fail_proof("Container proof for pod berth-system/x failed with exit code 9 matching rule");
  const Plan plan = sick.run();
  sick.settles = true;
  sick.run();
  EXPECT_TRUE(sick.is_out("n3"));
  EXPECT_EQ(sick.proof(), nullptr);
  EXPECT_EQ(
      sick.record("n3")->proof,
      "Job/berth-system/" + first +
          " failed: Container proof for pod berth-system/x failed with exit code 9 matching rule");
  ASSERT_EQ(plan.events.size(), 1u);
  EXPECT_EQ(plan.events[0].reason, reasons::kProofFailed);
  EXPECT_THAT(plan.events[0].note, HasSubstr("exit code 9"));
  EXPECT_THAT(plan.events[0].note, HasSubstr("after 30m")) << "each failure doubles the wait";
  sick.pass(29min);
  EXPECT_EQ(sick.proof(), nullptr);
  sick.pass(1min);
  ASSERT_NE(sick.proof(), nullptr);
  EXPECT_NE(sick.proof()->meta.name, first);
  sick.settles = false;
  sick.pass_proof();
  sick.run();
  EXPECT_FALSE(sick.is_out("n3"));
  EXPECT_EQ(sick.record("n3")->proofs, 0);
}

TEST(Proof, OneThatDoesNotEndHasFailed) {
  ProvenCluster sick;
  const std::string name = sick.proof()->meta.name;
  sick.pass(15min);
  EXPECT_EQ(sick.record("n3")->proofs, 0);
  sick.settles = false;
  sick.pass(1min);
  EXPECT_EQ(sick.record("n3")->proof, "Job/berth-system/" + name + " has not ended within 16m");
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

TEST(Proof, OfBeforeAFaultThatComesMeanwhileProvesNothing) {
  ProvenCluster sick;
  sick.xid("n3", 0, 95);
  sick.run();
  sick.pass_proof();
  sick.run();
  EXPECT_TRUE(sick.is_out("n3"));
  sick.pass(15min);
  EXPECT_NE(sick.proof(), nullptr) << "another one";
  EXPECT_TRUE(sick.is_out("n3"));
}

TEST(Proof, AJobThatIsNotBerthsProvesNothing) {
  ProvenCluster sick;
  Job job = *sick.proof();
  job.meta.annotations = {};
  job.finished = true;
  job.succeeded = 1;
  sick.cluster.upsert(std::move(job), sick.now);
  sick.settles = false;
  sick.run();
  EXPECT_TRUE(sick.is_out("n3"));
  EXPECT_THAT(sick.record("n3")->proof, HasSubstr("is not berth's"));
}

TEST(Proof, WhereFaultsAreOnlyToldNothingIsProven) {
  ProvenCluster sick;
  sick.policy.spec.health.action = HealthAction::kReport;
  sick.settles = false;
  sick.run();
  EXPECT_FALSE(sick.is_out("n3"));
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
