// SPDX-License-Identifier: Apache-2.0
// Jobs: an eviction counts as a failure. berth waits for a Job that can't afford one and moves a
// Job that can, and a layout may wait for some pods to end.
#include "tests/apiserver/rollout_fixture.h"

namespace berth::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Jobs : public RolloutTest {
 protected:
  void add_nodes(int count) {
    nodes_ = cluster().add_gpu_nodes(count, {});
    cluster().wait_agents_running();
  }

  void add_running_job(const std::string& name, const JobOptions& options,
                       const std::string& node) {
    Workload job;
    job.name = name;
    job.count = 4;
    if (!node.empty()) job.node_selector = {{"kubernetes.io/hostname", node}};
    cluster().add_job(job, options);
    cluster().wait_pods_running("team-a", name, 1);
  }

  Object job(const std::string& name) { return kube().get({"jobs", name, "team-a"}); }

  std::vector<std::string> nodes_;
};

TEST_F(Jobs, OneThatCannotAffordAFailureIsWaitedFor) {
  add_nodes(2);
  add_running_job("train", {.backoff_limit = 0}, "n1");
  start_berth();
  apply({});
  wait_for("the other node to be done", 60, [&]() -> std::string {
    return cluster().gpu_allocatable("n2") == kMixedA100 && !cordoned("n2") ? "" : detail("n2");
  });
  wait_reason("n1", "JobRunning");
  EXPECT_THAT(detail("n1"), HasSubstr("train"));
  EXPECT_FALSE(cordoned("n1")) << "it waits uncordoned";
  EXPECT_EQ(layout().number("/status/nodes/blocked"), 1);

  cluster().finish_pods("team-a", "train");
  wait_ready("inference-a100", 60);
  EXPECT_EQ(cluster().gpu_allocatable("n1"), kMixedA100);
  EXPECT_EQ(job("train").condition("Complete"), "True") << "the Job has not been failed";
  for (const AuditEvent& event : writes())
    EXPECT_NE(event.subresource, "eviction") << event.describe();
}

TEST_F(Jobs, OneThatAQueueHasLetGoGoesBackThereInstead) {
  add_nodes(2);
  kube().apply(R"(
apiVersion: gpu.berth.dev/v1alpha1
kind: GPUQueue
metadata: {name: vision}
spec:
  default: true
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: team-a}}
  quotas: [{resource: nvidia.com/gpu, pool: "*", nominalQuota: 4}]
)");
  start_berth();
  Workload train{.name = "train", .count = 4};
  train.node_selector = {{"kubernetes.io/hostname", "n1"}};
  cluster().add_job(train, {.backoff_limit = 0});
  // The webhook did not suspend it at its creation: a user suspends it, and its queue admits it.
  kube().patch({"jobs", "train", "team-a"}, PatchType::kMerge, R"({"spec": {"suspend": true}})");
  wait_for("the queue to let it go", 40, [&]() -> std::string {
    const Object now = job("train");
    return now.annotation("gpu.berth.dev/admitted").empty() ? now.dump() : "";
  });
  cluster().wait_pods_running("team-a", "train", 1);

  Layout layout;
  layout.node_selector = "{matchLabels: {kubernetes.io/hostname: n1}}";
  apply(layout);
  wait_ready("inference-a100", 60);
  const Object train_now = job("train");
  EXPECT_TRUE(train_now.truth("/spec/suspend")) << "it fits nowhere else, and waits";
  EXPECT_EQ(train_now.number("/status/failed"), 0);
  EXPECT_EQ(train_now.condition("Failed"), "");
  for (const AuditEvent& event : writes())
    EXPECT_NE(event.subresource, "eviction") << event.describe();
}

TEST_F(Jobs, OneThatIgnoresDisruptionsRunsAgainElsewhere) {
  add_nodes(2);
  add_running_job("elastic", {.backoff_limit = 0, .ignore_disruptions = true}, "");
  const std::string first = cluster().pods_of("team-a", "elastic").at(0).text("/spec/nodeName");
  const std::string other = first == "n1" ? "n2" : "n1";
  // The layout only selects the Job's node; the other one keeps full GPUs for the Job.
  Layout layout;
  layout.node_selector = "{matchLabels: {kubernetes.io/hostname: " + first + "}}";
  start_berth();
  apply(layout);
  wait_ready("inference-a100", 60);
  cluster().wait_pods_running("team-a", "elastic", 1);
  std::string now_on;
  for (const Object& pod : cluster().pods_of("team-a", "elastic"))
    if (pod.text("/status/phase") == "Running") now_on = pod.text("/spec/nodeName");
  EXPECT_EQ(now_on, other);
  EXPECT_EQ(job("elastic").number("/status/failed"), 0);
  EXPECT_EQ(job("elastic").condition("Failed"), "");
}

TEST_F(Jobs, WaitForCompletionCordonsTheNodeAndLetsTheJobEnd) {
  add_nodes(1);
  add_running_job("train", {.backoff_limit = 0}, "n1");
  Layout layout;
  layout.drain = {"timeout: 5s",
                  "waitForCompletion: {podSelector: {matchLabels: {app: train}}, timeout: 10m}"};
  start_berth();
  apply(layout);
  wait_phase("n1", "Cordoned");
  EXPECT_TRUE(cordoned("n1"));
  // Longer than drain.timeout, which does not apply to these pods.
  const std::string since = writes().back().answered_at;
  wait_for("more than drain.timeout to pass", 30, [&]() -> std::string {
    int renewals = 0;
    for (const AuditEvent& event : berth::test::since(events(), since))
      if (event.by_berth() && event.resource == "leases") ++renewals;
    return renewals >= 14 ? "" : std::to_string(renewals);  // one every half second
  });
  EXPECT_EQ(phase("n1"), "Cordoned");
  EXPECT_EQ(cluster().pods_of("team-a", "train").size(), 1u);

  cluster().finish_pods("team-a", "train");
  wait_ready("inference-a100", 60);
  EXPECT_EQ(job("train").condition("Complete"), "True");
  for (const AuditEvent& event : writes())
    EXPECT_NE(event.subresource, "eviction") << event.describe();
}

}  // namespace
}  // namespace berth::test
