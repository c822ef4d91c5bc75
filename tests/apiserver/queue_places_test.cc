// SPDX-License-Identifier: Apache-2.0
// Where queues let workloads run, on the real API server: kube-scheduler binds pods to the nodes
// that berth chose, and gangs run whole or not at all, in one topology domain if they require it.
#include <fmt/format.h>

#include <cstdlib>
#include <set>

#include "tests/apiserver/queue_fixture.h"

namespace berth::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kRack[] = "example.com/rack";
constexpr char kNoGrace[] = R"({"gracePeriodSeconds": 0})";
constexpr char kTerm[] =
    "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/"
    "0";

class QueuePlaces : public QueueTest {
 protected:
  std::vector<Object> gang(const std::string& namespace_, const std::string& name) {
    return kube().list("pods", namespace_, "labelSelector=gpu.berth.dev%2Fpod-group%3D" + name);
  }
  std::size_t running(const std::string& namespace_, const std::string& name) {
    std::size_t count = 0;
    for (const Object& pod : gang(namespace_, name))
      count += pod.text("/status/phase") == "Running" ? 1 : 0;
    return count;
  }
  std::size_t held(const std::string& name) {
    std::size_t count = 0;
    for (const Object& pod : gang("team-a", name))
      count += pod.has("/spec/schedulingGates") ? 1 : 0;
    return count;
  }
  void wait_running(const std::string& namespace_, const std::string& name, std::size_t pods) {
    wait_for(fmt::format("{} of gang {} to run", pods, name), 60, [&]() -> std::string {
      const std::size_t now = running(namespace_, name);
      return now == pods ? "" : fmt::format("{} do", now);
    });
  }
  // kube-scheduler's condition for a pod that fits on no node.
  void wait_unschedulable(const std::string& namespace_, const std::string& pod) {
    wait_for(pod + " to find no node", 60, [&]() -> std::string {
      const Object now = kube().get({"pods", pod, namespace_});
      return now.condition("PodScheduled", "reason") == "Unschedulable" ? "" : now.dump();
    });
  }
  void place_bare_pod(const std::string& name, int gpus, const std::string& node) {
    cluster().add_bare_pod({.name = name,
                            .ns = "team-b",
                            .count = gpus,
                            .node_selector = {{"kubernetes.io/hostname", node}}});
    wait_bound("team-b", name);
  }
  // The nodes in its admission record.
  static std::vector<std::string> admitted_to(const Object& object) {
    std::vector<std::string> nodes;
    const Object record = Object::parse(object.annotation("gpu.berth.dev/admitted"));
    for (const Object& node : record.items("/nodes")) nodes.push_back(node.text(""));
    return nodes;
  }
};

TEST_F(QueuePlaces, OfTwoGangsThatWouldBlockEachOtherOneRunsWholeAndThenTheOther) {
  add_pool(3, 2);
  // Without a queue each gang gets three of six GPUs, and waits forever for a fourth.
  const auto make_plain = [&](const std::string& name, int index) {
    cluster().add_bare_pod({.name = fmt::format("{}-{}", name, index),
                            .ns = "team-b",
                            .annotations = {{"gpu.berth.dev/pod-group-size", "4"}},
                            .labels = {{"gpu.berth.dev/pod-group", name}}});
  };
  for (int i = 0; i < 3; ++i) make_plain("a", i), make_plain("b", i);
  wait_running("team-b", "a", 3), wait_running("team-b", "b", 3);
  make_plain("a", 3), make_plain("b", 3);
  wait_unschedulable("team-b", "a-3"), wait_unschedulable("team-b", "b-3");
  EXPECT_EQ(running("team-b", "a"), 3u);
  EXPECT_EQ(running("team-b", "b"), 3u);
  for (const Object& pod : kube().list("pods", "team-b"))
    kube().remove({"pods", pod.name(), "team-b"}, kNoGrace);

  apply_queue("vision", "team-a", 8);
  start_berth();
  for (int i = 0; i < 4; ++i)
    for (const char* name : {"a", "b"}) gate("team-a", fmt::format("{}-{}", name, i), 1, name, 4);
  wait_reasons("vision", "WaitingForRoom 1");
  const std::string first = held("a") == 0 ? "a" : "b", second = first == "a" ? "b" : "a";
  wait_running("team-a", first, 4);
  EXPECT_EQ(held(second), 4u) << "it waits whole";
  EXPECT_THAT(queue("vision").text("/status/pending/0/message"),
              HasSubstr("needs 4 nvidia.com/gpu, 2 of 6 free on the nodes of pool training"));
  for (const Object& pod : gang("team-a", first))
    kube().patch({"pods", pod.name(), "team-a"}, PatchType::kMerge,
                 R"({"status": {"phase": "Succeeded"}})", "status");
  wait_running("team-a", second, 4);
  wait_nothing_in_flight();
}

TEST_F(QueuePlaces, AGangThatNeedsOneRackWaitsForItWhileSmallerWorkPasses) {
  add_pool(4, 4);
  kube().patch({"gpuclusterpolicies", "cluster"}, PatchType::kMerge,
               fmt::format(R"({{"spec": {{"topologyLevels": ["{}"]}}}})", kRack));
  for (const auto& [node, rack] : {std::pair("n1", "r1"), {"n2", "r1"}, {"n3", "r2"}, {"n4", "r2"}})
    kube().set_label({"nodes", node}, kRack, rack);
  // Six GPUs are free in each rack.
  place_bare_pod("in-r1", 2, "n1"), place_bare_pod("in-r2", 2, "n3");
  apply_queue("vision", "team-a", 16);
  for (int i = 0; i < 4; ++i) {
    const std::string pod = fmt::format("ring-{}", i);
    gate("team-a", pod, 2, "ring", 4);
    kube().set_annotation({"pods", pod, "team-a"}, "gpu.berth.dev/required-topology", kRack);
  }
  start_berth();
  wait_reasons("vision", "NoTopologyDomain 1");
  submit("team-a", "small", 1);
  wait_used("vision", "1/16");
  EXPECT_THAT(admitted_to(kube().get({"jobs", "small", "team-a"})), ElementsAre("n1"));
  EXPECT_EQ(held("ring"), 4u);
  EXPECT_EQ(reasons("vision"), "NoTopologyDomain 1");

  kube().remove({"pods", "in-r2", "team-b"}, kNoGrace);
  wait_running("team-a", "ring", 4);
  std::multiset<std::string> nodes;
  for (const Object& pod : gang("team-a", "ring")) nodes.insert(pod.text("/spec/nodeName"));
  EXPECT_THAT(nodes, ElementsAre("n3", "n3", "n4", "n4"));
}

TEST_F(QueuePlaces, AJobLeavesANodeThatItsCloudTakesBackAndBeginsWholeElsewhere) {
  constexpr char kNotice[] =
      R"({"spec": {"taints": [{"key": "aws-node-termination-handler/spot-itn", "effect": "NoSchedule"}]}})";
  const Ref job{"jobs", "train", "team-a"};
  add_pool(3);
  apply_queue("vision", "team-a", 16);
  start_berth();
  submit("team-a", "train", 8, 2);
  const auto wait_places = [&](const std::vector<std::string>& wanted) {
    wait_for("both pods to stand where the Job was admitted to", 60, [&]() -> std::string {
      std::set<std::string> nodes;
      for (const Object& pod : kube().list("pods", "team-a"))
        if (pod.text("/status/phase") == "Running") nodes.insert(pod.text("/spec/nodeName"));
      const bool there = nodes == std::set<std::string>(wanted.begin(), wanted.end());
      return there && admitted_to(kube().get(job)) == wanted ? "" : fmt::format("{}", nodes.size());
    });
  };
  wait_places({"n1", "n2"});
  kube().patch({"nodes", "n1"}, PatchType::kMerge, kNotice);
  wait_places({"n2", "n3"});
  EXPECT_EQ(kube().get(job).number("/status/failed"), 0) << "being suspended is no failure";
  wait_nothing_in_flight();
}

TEST_F(QueuePlaces, AJobWhosePodsNeverBecomeReadyIsSetBackUntilSomebodyTouchesIt) {
  const Ref job{"jobs", "train", "team-a"};
  add_pool(1);
  apply_queue("vision", "team-a", 8);
  kube().patch({"gpuqueues", "vision"}, PatchType::kMerge,
               R"({"spec": {"podsReadyTimeout": "10s"}})");
  start_berth();
  // No such scheduler exists to bind them.
  kube().apply(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: team-a}
spec:
  suspend: true
  parallelism: 2
  completions: 2
  template:
    spec:
      restartPolicy: Never
      schedulerName: nobody
      containers: [{name: main, image: x, resources: {limits: {nvidia.com/gpu: 2}}}]
)");
  wait_reasons("vision", "BackingOff 1");
  const Object waits = kube().get(job);
  EXPECT_EQ(waits.at("/spec/suspend").dump(), "true");
  const Object setback = Object::parse(waits.annotation("gpu.berth.dev/never-ready"));
  EXPECT_EQ(setback.number("/times"), 1);
  EXPECT_EQ(setback.number("/generation"), waits.number("/metadata/generation"));
  kube().patch(job, PatchType::kMerge, R"({"spec": {"parallelism": 1}})");
  wait_for("the Job to be let go again", 60, [&]() -> std::string {
    return kube().get(job).at("/spec/suspend").dump() == "false" ? "" : reasons("vision");
  });
}

// Single pods, gangs, and Jobs that need several nodes, all decided before the first is bound.
TEST_F(QueuePlaces, EveryPodIsBoundToTheNodeThatItsAdmissionNames) {
  const char* wanted = std::getenv("BERTH_PLACED_PODS");
  const int hundreds = wanted != nullptr ? std::atoi(wanted) / 100 : 2;
  const int nodes = 12 * hundreds;
  add_pool(nodes, 16);
  apply_queue("vision", "team-a", 16 * nodes);
  for (int i = 0; i < 78 * hundreds; ++i) {
    gate("team-a", fmt::format("single-{}", i), i % 4 == 0 ? 2 : 1);
    if (i % 39 == 0) submit("team-a", fmt::format("job-{}", i), 3, 7);
    for (int member = 0; i % 39 == 20 && member < 4; ++member)
      gate("team-a", fmt::format("ring-{}-{}", i, member), 2, fmt::format("ring-{}", i), 4);
  }
  start_berth();
  std::vector<Object> pods;
  wait_for("every pod to run", 60 * hundreds, [&]() -> std::string {
    pods = kube().list("pods", "team-a");
    const auto run = std::ranges::count_if(
        pods, [](const Object& pod) { return pod.text("/status/phase") == "Running"; });
    return run == 100 * hundreds ? "" : fmt::format("{} of {} do", run, pods.size());
  });

  for (const Object& pod : pods) {
    SCOPED_TRACE(pod.name());
    const std::string node = pod.text("/spec/nodeName");
    if (pod.has("/metadata/ownerReferences")) {
      EXPECT_THAT(admitted_to(pod), Contains(node));
      continue;
    }
    EXPECT_THAT(admitted_to(pod), ElementsAre(node));
    EXPECT_EQ(pod.text(std::string(kTerm) + "/matchFields/0/values/0"), node);
  }
  for (const Object& job : kube().list("jobs", "team-a")) EXPECT_GT(admitted_to(job).size(), 1u);
  // No client can move it any more.
  EXPECT_EQ(kube()
                .send("PATCH", "/api/v1/namespaces/team-a/pods/single-0",
                      R"({"spec": {"affinity": null}})", "application/merge-patch+json")
                .status,
            422);
  wait_nothing_in_flight();
}

}  // namespace
}  // namespace berth::test
