// SPDX-License-Identifier: Apache-2.0
// The history on the real control plane: it survives berth's restart and the deletion of events,
// and `berth history` prints it.
#include <fmt/format.h>

#include <cstdio>

#include "tests/apiserver/queue_fixture.h"

namespace berth::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class History : public QueueTest {
 protected:
  std::string history(const std::string& arguments) { return run("history", arguments); }
  // Both outputs.
  std::string run(const std::string& verb, const std::string& arguments) {
    const std::string command = berth_program() + " " + verb + " --kubeconfig " +
                                plane().write_kubeconfig("berth") + " " + arguments + " 2>&1";
    std::string text;
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("popen");
    for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) text += static_cast<char>(c);
    pclose(pipe);
    return text;
  }
};

TEST_F(History, SurvivesARestartOfBerthAndTheEndOfItsEvents) {
  const auto nodes = cluster().add_gpu_nodes(2, {});
  cluster().wait_agents_running();
  apply({});
  start_berth();
  wait_ready();
  stop_berth();
  const std::string first = history("node/" + nodes[0]);
  EXPECT_THAT(first, ContainsRegex(nodes[0] + " +berth: cordon .*\\(MIGLayout/inference-a100 "
                                              "generation 1\\)"));
  EXPECT_THAT(first, ContainsRegex(nodes[0] + " +mig-manager: success"));
  EXPECT_THAT(first, Not(HasSubstr(nodes[1])));

  start_berth();
  apply({.devices = "  - profiles: {1g.10gb: 7}\n"});
  wait_condition("Ready", "False");
  wait_ready();
  stop_berth();
  for (const Object& event : kube().list("events", "default"))
    kube().remove({"events", event.name(), "default"});
  const std::string all = history("--since 1h");
  EXPECT_THAT(all, HasSubstr(first.substr(0, first.find('\n'))));
  EXPECT_THAT(all, ContainsRegex("leads: berth .*, epoch 1\n"));
  EXPECT_THAT(all, ContainsRegex("leads: berth .*, epoch 2\n"));
  EXPECT_THAT(all, ContainsRegex("berth: cordon .*generation 2"));
  EXPECT_THAT(all, ContainsRegex(nodes[1] + " +waits: InitialBatch: .*generation 2"));
  EXPECT_THAT(history("miglayout/inference-a100 -o json"),
              AllOf(HasSubstr(R"("cause": "MIGLayout/inference-a100 generation 2")"),
                    HasSubstr(R"("object": "Node/)" + nodes[1])));
}

// Kubernetes deletes the pods of a node that does not answer, and nothing ends them there.
constexpr char kTrain[] = R"(
apiVersion: batch/v1
kind: Job
metadata: {namespace: team-a, name: train}
spec:
  suspend: true
  parallelism: 2
  completions: 2
  podReplacementPolicy: Failed
  template:
    metadata: {annotations: {test.berth.dev/linger: "true"}}
    spec:
      restartPolicy: Never
      containers: [{name: main, image: example.com/train, resources: {limits: {nvidia.com/gpu: 4}}}]
)";

TEST_F(History, TellsOfADeadNodeWhatBecameOfItsPods) {
  add_pool(3, 4);
  apply_queue("vision", "team-a", 12);
  start_berth();
  kube().apply(kTrain);
  std::vector<Object> pods;
  wait_for("both pods to run", 60, [&]() -> std::string {
    pods = kube().list("pods", "team-a");
    const bool run = pods.size() == 2 && pods[0].text("/status/phase") == "Running" &&
                     pods[1].text("/status/phase") == "Running";
    return run ? "" : fmt::format("{} pods", pods.size());
  });
  const std::string pod = pods[0].name(), node = pods[0].text("/spec/nodeName");
  kube().set_annotation({"nodes", node}, "test.berth.dev/not-ready", "true");
  kube().patch({"nodes", node}, PatchType::kStrategic,
               R"({"status":{"conditions":[{"type":"Ready","status":"False","reason":"Dead"}]}})",
               "status");
  kube().remove({"pods", pod, "team-a"}, R"({"gracePeriodSeconds":1})");
  wait_for("the Job to replace its pod", 120, [&]() -> std::string {
    const Object job = kube().get({"jobs", "train", "team-a"});
    return job.text("/spec/podReplacementPolicy") == "TerminatingOrFailed"
               ? ""
               : kube().get({"pods", pod, "team-a"}).at("/metadata").dump();
  });
  EXPECT_THAT(run("why", "node/" + node),
              AllOf(HasSubstr("can't leave it while it is not ready: team-a/" + pod),
                    HasSubstr("kubectl delete node " + node)));
  EXPECT_THAT(run("why", "job/train -n team-a"),
              HasSubstr(fmt::format("pod {} can't leave node {}, which is not ready", pod, node)));
  stop_berth();
  for (const Object& event : kube().list("events", "team-a"))
    kube().remove({"events", event.name(), "team-a"});
  const std::string told = history("node/" + node);
  EXPECT_THAT(told, HasSubstr("is NotReady"));
  EXPECT_THAT(told,
              ContainsRegex(fmt::format(
                  "team-a/{} +berth: .*it can't leave node {}, which is not ready", pod, node)));
  EXPECT_THAT(told, ContainsRegex(fmt::format("team-a/train +berth: .*replace pod {}", pod)));
}

TEST_F(History, ALeaderOfAnotherVersionIsNoted) {
  start_berth();
  const Ref lease{"leases", "berth-controller", "berth-system"};
  wait_for("the Lease's version", 30, [&]() -> std::string {
    const auto found = kube().find(lease);
    const bool there =
        found && !found->text("/metadata/annotations/gpu.berth.dev~1version").empty();
    return there ? "" : "no version";
  });
  EXPECT_THAT(run("top", "pools"), Not(HasSubstr("note: ")));
  stop_berth();
  kube().set_annotation(lease, "gpu.berth.dev/version", "9.9.9");
  for (const char* verb : {"top", "why", "plan"})
    EXPECT_THAT(run(verb, ""), HasSubstr("note: the leading controller is berth 9.9.9"));
}

}  // namespace
}  // namespace berth::test
