// SPDX-License-Identifier: Apache-2.0
// Queues beside what is being deleted, on a whole simulated cluster: who starts, and who stays.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "controller/scenario/scenario.h"
#include "controller/scenario/scenario_run.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::IsSupersetOf;
using testing::Not;

// Nodes n1 and n2 with 4 GPUs each; cohort research of queues a and b, and namespaces of their
// names.
std::string cluster(int quota_of_a, int quota_of_b, const std::string& timeline) {
  std::string text = R"(
nodes: [{count: 2, labels: {tier: training}}]
kube: {podStop: 20s}
objects:
- apiVersion: gpu.berth.dev/v1alpha1
  kind: GPUClusterPolicy
  metadata: {name: cluster}
  spec: {pools: [{name: training, nodeSelector: {matchLabels: {tier: training}}}]}
)";
  for (const auto& [name, quota] : {std::pair("a", quota_of_a), std::pair("b", quota_of_b)})
    text += fmt::format(R"(
- {{apiVersion: v1, kind: Namespace, metadata: {{name: {0}, labels: {{team: {0}}}}}}}
- apiVersion: gpu.berth.dev/v1alpha1
  kind: GPUQueue
  metadata: {{name: {0}}}
  spec:
    cohortName: research
    default: true
    namespaceSelector: {{matchLabels: {{team: {0}}}}}
    quotas: [{{resource: nvidia.com/gpu, pool: training, nominalQuota: {1}}}]
    preemption: {{withinQueue: LowerPriority, reclaimWithinCohort: Any}}
)",
                        name, quota);
  return text + "timeline:\n" + timeline;
}

std::string job(const std::string& at, const std::string& in, const std::string& name, int gpus,
                const std::string& meta = "") {
  return fmt::format(R"(
- at: {}
  apply:
    apiVersion: batch/v1
    kind: Job
    metadata: {{namespace: {}, name: {}{}}}
    spec:
      suspend: true
      parallelism: 1
      completions: 1
      template:
        metadata: {{labels: {{app: {}}}}}
        spec:
          restartPolicy: Never
          containers: [{{name: main, image: x, resources: {{limits: {{nvidia.com/gpu: {}}}}}}}]
)",
                     at, in, name, meta, name, gpus);
}

std::string pod(const std::string& at, const std::string& in, const std::string& name, int gpus,
                const std::string& meta = "") {
  return fmt::format(R"(
- at: {}
  apply:
    apiVersion: v1
    kind: Pod
    metadata: {{namespace: {}, name: {}{}}}
    spec:
      schedulingGates: [{{name: gpu.berth.dev/queue}}]
      terminationGracePeriodSeconds: 60
      containers: [{{name: main, image: x, resources: {{limits: {{nvidia.com/gpu: {}}}}}}}]
)",
                     at, in, name, meta, gpus);
}

// "a/first starts", "b/innocent stops": what becomes of Jobs, in order.
std::vector<std::string> told_of_jobs(const std::string& yaml) {
  const Result<Scenario> scenario = parse_scenario(yaml, "scenario.yaml");
  if (!scenario) throw std::runtime_error(describe(scenario.error()));
  std::vector<std::string> told;
  ScenarioRun run(*scenario, 1);
  run.simulation().store().observe([&](const sim::Change& change) {
    if (change.key.type->plural != "jobs" || !change.before || !change.after) return;
    const auto suspended = [](const nlohmann::json& of) {
      return of["spec"].value("suspend", false);
    };
    const bool was = suspended(*change.before), is = suspended(*change.after);
    if (was != is)
      told.push_back(change.key.namespace_ + "/" + change.key.name + (is ? " stops" : " starts"));
  });
  run.run();
  return told;
}

// `stuck` hangs for ever. `first` is decided while nothing is free, and waits for it.
TEST(QueueLeaving, NobodyWaitsForWhatHangsOnceSomethingElseHasEnded) {
  const std::string lines = pod("1s", "a", "stuck", 1) + job("2s", "a", "runs", 3) + R"(
- {at: 20s, hang-pod: a/stuck}
- {at: 21s, delete: pod/a/stuck}
)" + job("25s", "a", "first", 1) +
                            R"(
- {at: 40s, finish-pod: a/runs}
)" + job("60s", "a", "second", 2);
  EXPECT_THAT(told_of_jobs(cluster(4, 0, lines)),
              IsSupersetOf({"a/first starts", "a/second starts"}));
}

TEST(QueueLeaving, NobodyInnocentStopsBesideAGangThatIsDeleted) {
  const std::string gang =
      R"(, labels: {gpu.berth.dev/pod-group: g}, annotations: {gpu.berth.dev/pod-group-size: "2"})";
  const std::string lines = job("1s", "a", "runs", 4) + pod("2s", "b", "g-0", 1, gang) +
                            pod("2s", "b", "g-1", 1, gang) + job("10s", "b", "innocent", 2) + R"(
- {at: 40s, delete: pod/b/g-0}
- {at: 40s, delete: pod/b/g-1}
)" + job("43s", "a", "new", 2);
  const std::vector<std::string> told = told_of_jobs(cluster(8, 0, lines));
  EXPECT_THAT(told, IsSupersetOf({"b/innocent starts", "a/new starts"}));
  EXPECT_THAT(told, Not(Contains("b/innocent stops")));
}

TEST(QueueLeaving, AJobThatIsBeingDeletedHoldsNothingAndIsNotReleased) {
  const std::string lines = job("1s", "a", "runs", 4) +
                            job("5s", "a", "kept", 4, ", finalizers: [example.com/archive]") + R"(
- {at: 10s, delete: job/a/kept}
)" + job("15s", "a", "next", 4) +
                            R"(
- {at: 30s, finish-pod: a/runs}
)";
  const std::vector<std::string> told = told_of_jobs(cluster(4, 0, lines));
  EXPECT_THAT(told, Contains("a/next starts"));
  EXPECT_THAT(told, Not(Contains("a/kept starts")));
}

}  // namespace
}  // namespace berth::test
