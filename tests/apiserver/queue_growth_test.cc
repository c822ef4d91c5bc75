// SPDX-License-Identifier: Apache-2.0
// Elastic pools on the real API server: an autoscaler sees the released pods. The test acts as one:
// it reacts to pods that kube-scheduler calls unschedulable, if its node group's template has the
// labels that they select, and creates nodes of that template.
#include <fmt/format.h>

#include "tests/apiserver/queue_fixture.h"

namespace berth::test {
namespace {

using ::testing::HasSubstr;

constexpr int kGpus = 8;  // per node

class QueueGrowth : public QueueTest {
 protected:
  void apply_policy(int max_nodes) {
    const std::string elastic =
        max_nodes == 0 ? "" : fmt::format(", elastic: {{maxNodes: {}}}", max_nodes);
    kube().apply(fmt::format(R"(
apiVersion: gpu.berth.dev/v1alpha1
kind: GPUClusterPolicy
metadata: {{name: cluster}}
spec: {{pools: [{{name: training, nodeSelector: {{matchLabels: {{tier: training}}}}{}}}]}}
)",
                             elastic));
  }

  bool is_for_the_group(const Object& pod) const {
    if (!pod.text("/spec/nodeName").empty()) return false;
    if (pod.condition("PodScheduled", "reason") != "Unschedulable") return false;
    if (pod.has("/spec/affinity")) return false;  // pinned to an existing node
    for (const auto& [key, value] : pod.strings("/spec/nodeSelector")) {
      const auto label = template_.find(key);
      if (label == template_.end() || label->second != value) return false;
    }
    return true;
  }
  // Creates as many nodes as the unscheduled pods need, less those without pods. It has no limit of
  // its own. It lists nodes first: a pod that is bound meanwhile needs no node, and must not find
  // its node taken.
  void autoscale() {
    int free = 0, wanted = 0;
    for (const Object& node : kube().list("nodes"))
      free += cluster().pods_on(node.name()).size() <= kAgentsOnNode ? 1 : 0;
    for (const Object& pod : kube().list("pods", "team-a")) {
      if (!is_for_the_group(pod)) continue;
      wanted += std::stoi(pod.text("/spec/containers/0/resources/limits/nvidia.com~1gpu"));
    }
    int nodes = (wanted + kGpus - 1) / kGpus - free;
    for (; nodes > 0; --nodes)
      cluster().add_gpu_node(
          {.name = fmt::format("grown-{}", ++grown_), .gpus = kGpus, .labels = template_});
  }
  // Runs the autoscaler until so many pods of the namespace run.
  void wait_running(std::size_t wanted) {
    wait_for(fmt::format("{} pods to run", wanted), 90, [&]() -> std::string {
      autoscale();
      std::size_t run = 0;
      for (const Object& pod : kube().list("pods", "team-a"))
        run += pod.text("/status/phase") == "Running" ? 1 : 0;
      return run == wanted ? "" : fmt::format("{} do", run);
    });
  }
  bool suspended(const std::string& job) {
    return kube().get({"jobs", job, "team-a"}).at("/spec/suspend").dump() == "true";
  }

  // GPU feature discovery sees its nodes minutes later: "" is an absent label.
  std::map<std::string, std::string> template_ = {{"tier", "training"},
                                                  {"gpu.berth.dev/pool", "training"},
                                                  {"nvidia.com/gpu.present", ""},
                                                  {"nvidia.com/gpu.product", ""},
                                                  {"nvidia.com/gpu.count", ""}};
  int grown_ = 0;

 private:
  static constexpr std::size_t kAgentsOnNode = 3;
};

TEST_F(QueueGrowth, APoolAtZeroGrowsAsFarAsItsBoundAndNoFurther) {
  apply_policy(2);
  apply_queue("vision", "team-a", 64);
  const std::vector<std::string> jobs = {"a", "b", "c"};
  for (const std::string& job : jobs) submit("team-a", job, kGpus);
  start_berth();
  wait_running(2);
  EXPECT_EQ(grown_, 2);
  wait_reasons("vision", "WaitingForRoom 1");
  EXPECT_THAT(queue("vision").text("/status/pending/0/message"),
              HasSubstr("nodes to come that nobody waits for: 0"));
  // For Jobs created in the same second, the uid decides.
  const auto suspends = [&](const std::string& job) { return suspended(job); };
  ASSERT_EQ(std::ranges::count_if(jobs, suspends), 1);
  const std::string last = *std::ranges::find_if(jobs, suspends);
  const std::string first = *std::ranges::find_if_not(jobs, suspends);
  // The next one gets an existing node, and is pinned to it.
  for (const Object& pod : kube().list("pods", "team-a", "labelSelector=job-name%3D" + first))
    kube().set_annotation({"pods", pod.name(), "team-a"}, "test.berth.dev/finish", "true");
  wait_for("the last to be let go", 60, [&]() -> std::string {
    autoscale();
    return suspended(last) ? queue("vision").at("/status").dump() : "";
  });
  wait_running(2);
  EXPECT_EQ(grown_, 2) << "nodes that came in all";
  const Object record =
      Object::parse(kube().get({"jobs", last, "team-a"}).annotation("gpu.berth.dev/admitted"));
  EXPECT_EQ(record.items("/nodes").size(), 1u) << record.dump();
  wait_nothing_in_flight();
}

TEST_F(QueueGrowth, WithoutABoundWorkStaysHeldBackAndTheAutoscalerQuiet) {
  apply_policy(0);
  apply_queue("vision", "team-a", 64);
  submit("team-a", "wide", kGpus, 2);
  for (int i = 0; i < 3; ++i) gate("team-a", fmt::format("ring-{}", i), 4, "ring", 3);
  start_berth();
  wait_reasons("vision", "ResourceNotOffered 2");
  autoscale();
  EXPECT_EQ(grown_, 0);
  EXPECT_TRUE(suspended("wide"));
  EXPECT_TRUE(gated("team-a", "ring-0"));
  // With one more node both are admitted: one shows what the nodes are like, the other may use two
  // future ones.
  apply_policy(4);
  wait_running(5);
  EXPECT_EQ(grown_, 4);
  wait_nothing_in_flight();
}

}  // namespace
}  // namespace berth::test
