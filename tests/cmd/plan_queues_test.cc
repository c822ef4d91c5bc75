// SPDX-License-Identifier: Apache-2.0
// `berth plan` for queues and workloads as a program: its input files, and its exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cmd/program.h"
#include "tests/support/places.h"

namespace berth::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Ran plan(const std::string& manifest, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"plan", "-f", "-", "--snapshot",
                                        golden("queues-edited/cluster.json")};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_berth(arguments, manifest);
}

std::string job(const std::string& metadata, int gpus) {
  return "apiVersion: batch/v1\nkind: Job\nmetadata: {" + metadata +
         "}\nspec: {template: {spec: {containers: [{name: m, resources: {limits: "
         "{nvidia.com/gpu: " +
         std::to_string(gpus) + "}}}]}}}\n";
}

TEST(PlanQueues, WhatImportMakesOfKueuesObjectsIsJudgedAgainstASnapshot) {
  const std::string kueue = source_dir() + "/examples/import/kueue.yaml";
  const Ran made = run_berth({"import", "--policy", "-f", kueue});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const Ran judged = run_berth(
      {"plan", "-f", "-", "--snapshot", golden("queues-imported/cluster.json")}, made.out);
  EXPECT_EQ(judged.exit_code, 2) << judged.err;
  EXPECT_EQ(judged.out, text_of(golden("queues-imported/plan.txt")));
}

TEST(PlanQueues, MachinesReadTheSameOfIt) {
  const Ran ran = plan(job("name: next, namespace: vision", 8), {"-o", "json"});
  EXPECT_EQ(ran.exit_code, 2) << ran.err;
  const auto document = nlohmann::json::parse(ran.out);
  EXPECT_EQ(document["changes"], true);
  EXPECT_EQ(document["layouts"].size(), 0u) << "of queues alone no node changes";
  const auto& asked = document["queues"]["asked"][0];
  EXPECT_EQ(asked["workload"], "Job/vision/next");
  EXPECT_EQ(asked["queue"], "vision");
  EXPECT_EQ(asked["position"], 3);
  EXPECT_EQ(asked["behind"].size(), 2u);
  EXPECT_EQ(plan(job("name: next, namespace: vision", 8), {"-o", "yaml"}).exit_code, 2);
}

TEST(PlanQueues, AJobWithoutNamespaceIsInDefault) {
  const Ran ran = plan(job("name: next", 1));
  EXPECT_EQ(ran.exit_code, 0) << "no queue holds it, so nothing changes: " << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("Job/default/next: in no queue: NoQueue"));
}

TEST(PlanQueues, WhatIsThereAlreadyIsLeftToWhy) {
  const Ran ran = plan(job("name: train-1, namespace: vision", 8) + "---\n" +
                       job("name: next, namespace: vision", 1));
  EXPECT_EQ(ran.exit_code, 2) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("stdin:1: Job/vision/train-1: is in the cluster already, and left "
                                 "out; how it stands: berth why -n vision job/train-1"));
  EXPECT_THAT(ran.out, AllOf(HasSubstr("Job/vision/next: would be admitted to queue vision"),
                             Not(HasSubstr("Job/vision/train-1: would"))));
}

TEST(PlanQueues, AWorkloadWithFaultsIsRefusedWithFileAndLine) {
  Ran ran = plan("---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: x}\nspec: {suspend: 3}\n");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("stdin:"), HasSubstr("Job/x: spec.suspend: ")));
  EXPECT_THAT(ran.out, IsEmpty());
  ran = plan(job("name: a", 1) + "---\n" + job("name: a", 1));
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("Job/default/a: is in these files twice"));
}

TEST(PlanQueues, OthersKindsAreLeftAlone) {
  const Ran ran = plan("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n---\n" +
                       job("name: next, namespace: vision", 1));
  EXPECT_EQ(ran.exit_code, 2) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("Deployment/web: is not one of berth's kinds; left alone"));
}

}  // namespace
}  // namespace berth::test
