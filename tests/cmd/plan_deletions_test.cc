// SPDX-License-Identifier: Apache-2.0
// `berth plan --delete` as a program: the effects of a deletion on nodes and on workloads in
// queues.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cmd/program.h"

namespace berth::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Ran plan_deletion(const std::string& folder, const std::string& object,
                  const std::vector<std::string>& more = {}, const std::string& manifest = "") {
  std::vector<std::string> arguments = {"plan", "--delete", object, "--snapshot",
                                        golden(folder + "/cluster.json")};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_berth(arguments, manifest);
}

constexpr char kRemove[] =
    "apiVersion: gpu.berth.dev/v1alpha1\nkind: GPUClusterPolicy\nmetadata: {name: cluster}\n"
    "spec:\n"
    "  deletionPolicy: Remove\n"
    "  pools: [{name: lab, nodeSelector: {matchLabels: {example.com/lab: \"yes\"}},"
    " sharing: {strategy: TimeSlicing, replicas: 8}}]\n";

TEST(PlanDeletions, ThePolicyUnderRetainLeavesItsNodes) {
  const Ran ran = plan_deletion("policy-fewer-replicas", "gpupolicy/cluster");
  EXPECT_EQ(ran.exit_code, 2) << ran.err;
  EXPECT_THAT(
      ran.out,
      AllOf(HasSubstr("GPUClusterPolicy/cluster (deleted)\n  deletionPolicy Retain: its nodes keep "
                      "their labels, taints and sharing\n"),
            HasSubstr("pool lab (removed): 0 enter, 0 leave, 2 stay"),
            Not(HasSubstr("takes label")), Not(HasSubstr("ConfigMap/"))));
}

TEST(PlanDeletions, ThePolicyUnderRemoveTakesLabelsAndSharing) {
  const Ran ran =
      plan_deletion("policy-fewer-replicas", "GPUClusterPolicy/cluster", {"-f", "-"}, kRemove);
  EXPECT_EQ(ran.exit_code, 2) << ran.err;
  EXPECT_THAT(
      ran.out,
      AllOf(HasSubstr("deletionPolicy Remove"),
            HasSubstr("pool lab (removed): 0 enter, 2 leave, 0 stay"),
            HasSubstr("takes label nvidia.com/device-plugin.config=lab-e24c0d51 from n1, n2"),
            HasSubstr("hold 20 of nvidia.com/gpu where 4 will exist"),
            HasSubstr("removes key lab-e24c0d51")));
  const Ran json =
      plan_deletion("policy-fewer-replicas", "gpuclusterpolicies.gpu.berth.dev/cluster",
                    {"-f", "-", "-o", "json"}, kRemove);
  const auto document = nlohmann::json::parse(json.out);
  EXPECT_EQ(document["policy"]["change"], "Deleted");
  EXPECT_EQ(document["policy"]["pools"][0]["leave"], nlohmann::json({"n1", "n2"}));
}

TEST(PlanDeletions, AQueueSaysWhoWaitsWithoutOne) {
  const Ran ran = plan_deletion("queues-edited", "gq/vision");
  EXPECT_EQ(ran.exit_code, 2) << ran.err;
  EXPECT_THAT(
      ran.out,
      AllOf(HasSubstr("GPUQueue/vision (deleted)\n"), HasSubstr("2 workloads wait without a queue"),
            HasSubstr("Job/vision/train-1, Job/vision/train-2\n    was Admissible, "
                      "queue vision, pool training; now in no queue"),
            HasSubstr("Job/guests/try-1\n    was in no queue; now QueueNotFound"),
            HasSubstr("vision: vision → none")));
  const auto document =
      nlohmann::json::parse(plan_deletion("queues-edited", "gq/vision", {"-o", "json"}).out);
  bool found = false;
  for (const auto& queue : document["queues"]["queues"])
    if (queue["name"] == "vision") {
      found = true;
      EXPECT_EQ(queue["change"], "Deleted");
      EXPECT_EQ(queue["pending"], 2);
    }
  EXPECT_TRUE(found);
}

TEST(PlanDeletions, ALayoutSaysWhatBecomesOfItsNodes) {
  const Ran ran = plan_deletion("nothing-to-do", "migl/inference-a100");
  EXPECT_EQ(ran.exit_code, 2) << ran.err;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("inference-a100 (deleted): 8 nodes selected: 8 match it now\n"),
                    HasSubstr("Retain: its nodes keep their MIG configuration")));
}

TEST(PlanDeletions, WhatIsNotThereOrNoKindOfBerthsIsAnError) {
  EXPECT_THAT(plan_deletion("nothing-to-do", "migl/none").err, HasSubstr("no MIGLayout none"));
  EXPECT_THAT(plan_deletion("nothing-to-do", "node/n1").err, HasSubstr("KIND miglayout"));
  EXPECT_THAT(plan_deletion("nothing-to-do", "cluster").err, HasSubstr("KIND/NAME"));
  EXPECT_EQ(plan_deletion("nothing-to-do", "cluster").exit_code, 1);
  EXPECT_THAT(plan_deletion("nothing-to-do", "migl/inference-a100", {"--simulate"}).err,
              HasSubstr("--delete"));
}

}  // namespace
}  // namespace berth::test
