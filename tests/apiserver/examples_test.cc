// SPDX-License-Identifier: Apache-2.0
// Every manifest in examples/ that berth reads, with the chart's defaults and the chart's own
// account: each object becomes Ready, or says in one sentence what to set. With these values it
// then becomes Ready.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "tests/apiserver/chart_fixture.h"
#include "tests/support/places.h"

namespace berth::test {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kTier[] = "node.example.com/tier";
constexpr char kGuardedTier[] = "node-restriction.kubernetes.io/tier";
constexpr char kOwnTier[] = "gpu.example.com/tier";
const std::string kExamples = source_dir() + "/examples/";

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool mentions(const std::string& path, const std::string& words) {
  return read(path).find(words) != std::string::npos;
}

// A policy with its layouts, or one layout: a cluster has one policy at a time.
std::vector<std::vector<std::string>> groups() {
  std::vector<std::string> policies, layouts;
  for (const auto& entry : fs::recursive_directory_iterator(kExamples)) {
    const std::string path = entry.path();
    if (!path.ends_with(".yaml") || path.starts_with(kExamples + "simulation/")) continue;
    if (mentions(path, "\nkind: GPUClusterPolicy\n"))
      policies.push_back(path);
    else if (mentions(path, "\nkind: MIGLayout\n"))
      layouts.push_back(path);
  }
  std::ranges::sort(policies);
  std::ranges::sort(layouts);
  std::vector<std::vector<std::string>> all;
  for (const std::string& policy : policies) {
    std::vector<std::string>& group = all.emplace_back(1, policy);
    std::erase_if(layouts, [&](const std::string& layout) {
      const bool beside = fs::path(layout).parent_path() == fs::path(policy).parent_path();
      if (beside) group.push_back(layout);
      return beside;
    });
  }
  for (const std::string& layout : layouts) all.push_back({layout});
  return all;
}

// The value of each --set in a line: "nodeKeys={a,b}".
std::vector<std::string> values_of(const std::string& message) {
  const std::string mark = "--set '";
  std::vector<std::string> values;
  for (std::size_t at = message.find(mark); at != message.npos; at = message.find(mark, at)) {
    at += mark.size();
    values.push_back(message.substr(at, message.find('\'', at) - at));
  }
  return values;
}

class Planner : public ChartTest {
 protected:
  struct Ran {
    int exit_code = -1;
    std::string text;
  };
  Ran plan(const std::string& example, const std::vector<std::string>& flags = {}) {
    static int runs = 0;
    const std::string log = plane().scratch() + "/example-" + std::to_string(++runs) + ".log";
    std::vector<std::string> words = {
        berth_program(),     "plan",         "-f",
        kExamples + example, "--kubeconfig", plane().write_kubeconfig("planner")};
    words.insert(words.end(), flags.begin(), flags.end());
    Child child(words, log);
    const int code = child.wait(seconds(60)).value_or(-1);
    return {code, child.log_text()};
  }
};

class Examples : public Planner {
 protected:
  void SetUp() override {
    invariants_.pool_labels = {"gpu.berth.dev/pool", kOwnTier, "nvidia.com/device-plugin.config"};
    ChartTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    for (const char* tier : {"training", "inference", "development", "lab", "whole", "sliced",
                             "shared", "notebooks", "production"})
      cluster().add_gpu_node({.name = tier, .labels = {{kTier, tier}, {kGuardedTier, tier}}});
    cluster().wait_agents_running();
    const Said installed = install();
    ASSERT_EQ(installed.code, 0) << installed.text;
    wait_for_policies();
  }
  // A policy works a moment after its creation.
  void wait_for_policies() {
    Kube as_berth(account());
    wait_until("the chart's policies to be enforced", seconds(60), [&]() -> std::string {
      const Reply reply = as_berth.send("PATCH", "/api/v1/nodes/training?dryRun=All",
                                        R"({"metadata":{"labels":{"not.example.com/ours":"x"}}})",
                                        "application/merge-patch+json");
      return reply.status == 403 || reply.status == 422 ? ""
                                                        : "a label that is not berth's may be set";
    });
  }
  void TearDown() override {
    if (!IsSkipped()) remove_objects();
    ChartTest::TearDown();
  }

  // The controller's pods run no container here; this process replaces them.
  void start() { start_berth_as_account({"--agent-configmap-delay=2s"}); }

  std::vector<Object> objects() {
    std::vector<Object> all = kube().list("gpuclusterpolicies");
    for (const char* resource : {"miglayouts", "gpuqueues"})
      for (const Object& object : kube().list(resource)) all.push_back(object);
    return all;
  }
  // No NVIDIA device plugin runs on the plane: an object that only waits for its shared GPUs is
  // done here. Simulations test that they arrive.
  static bool is_in_place(const Object& object) {
    return object.condition("Ready") == "True" ||
           object.condition("Reconciling", "reason") == "PluginRollout";
  }
  // Once nothing changes by itself any more.
  void wait_settled(const std::string& what, int limit = 90) {
    wait_for(what + " to be Ready or to say what to set", limit, [&]() -> std::string {
      for (const Object& object : objects())
        if (object.number("/status/observedGeneration") != object.number("/metadata/generation") ||
            (!is_in_place(object) && object.condition("Stalled") != "True"))
          return object.name() + " " + object.at("/status").dump();
      return "";
    });
  }
  void remove_objects() {
    if (kube().find({"gpuclusterpolicies", "cluster"}))
      kube().patch({"gpuclusterpolicies", "cluster"}, PatchType::kMerge,
                   R"({"spec": {"deletionPolicy": "Remove"}})");
    for (const char* resource : {"miglayouts", "gpuclusterpolicies", "gpuqueues"})
      for (const Object& object : kube().list(resource)) kube().remove({resource, object.name()});
    wait_for("what the example had made to go", 60, [&]() -> std::string {
      const std::vector<Object> left = objects();
      return left.empty() ? "" : left.front().name() + " " + left.front().at("/status").dump();
    });
  }
  // Runs the command that the object's message shows, literally.
  void obey(const Object& object) {
    const std::vector<std::string> values = values_of(object.condition("Stalled", "message"));
    ASSERT_FALSE(values.empty()) << object.condition("Stalled", "message");
    stop_berth();
    const Said upgraded = upgrade(values);
    ASSERT_EQ(upgraded.code, 0) << upgraded.text;
    start();
  }
  void apply_policy(const std::string& example) {
    kube().apply_file(kExamples + example);
    wait_settled(example);
  }
  // Each node has its pool's name.
  void wait_pool(const std::string& name) {
    wait_for(name + " to be in its pool", 30, [&]() -> std::string {
      const Object node = kube().get({"nodes", name});
      return node.label("gpu.berth.dev/pool") == name ? "" : node.at("/metadata/labels").dump();
    });
  }
  Object policy() { return kube().get({"gpuclusterpolicies", "cluster"}); }
};

TEST_F(Examples, EachBecomesReadyOnTheDefaultChartOrNamesTheValue) {
  start();
  std::set<std::string> reasons;
  std::size_t objects_seen = 0;
  for (const std::vector<std::string>& group : groups()) {
    const std::string name = fs::relative(group.front(), kExamples);
    SCOPED_TRACE(name);
    if (mentions(group.front(), "# refused: ")) continue;  // by the API server itself
    for (const std::string& file : group) kube().apply_file(file);
    wait_settled(name);
    for (const Object& object : objects()) {
      ++objects_seen;
      if (is_in_place(object)) continue;
      reasons.insert(object.condition("Stalled", "reason"));
      const std::string says = object.condition("Stalled", "message");
      EXPECT_THAT(says, ::testing::AnyOf(HasSubstr("; run helm upgrade berth … "),
                                         HasSubstr("; add to ClusterPolicy spec.")))
          << object.name();
    }
    for (const Object& object : objects())
      if (object.condition("Stalled", "reason") == "KeyForbidden") {
        obey(object);
        wait_for(name + " to be Ready with the value set", 90, [&]() -> std::string {
          return is_in_place(policy()) ? "" : policy().at("/status").dump();
        });
      }
    remove_objects();
  }
  EXPECT_GE(objects_seen, 15U);
  EXPECT_THAT(reasons, Contains("KeyForbidden"));
  EXPECT_THAT(reasons, Contains("OperandsNotTolerant"));
}

TEST_F(Examples, AKeyThatTheChartDoesNotNameKeepsNothingElseFromItsNodes) {
  start();
  apply_policy("tiers/policy.yaml");
  const Object stalled = policy();
  EXPECT_EQ(stalled.condition("Ready", "reason"), "KeyForbidden");
  // Whichever pool's node berth saw first.
  EXPECT_THAT(stalled.condition("Stalled", "message"),
              ::testing::EndsWith(
                  " sets label gpu.example.com/tier, which the chart does not allow "
                  "berth to write; run helm upgrade berth … --reset-then-reuse-values --set "
                  "'nodeKeys={gpu.example.com/tier}'"));
  for (const char* name : {"training", "inference", "development"}) {
    wait_pool(name);
    const Object node = kube().get({"nodes", name});
    EXPECT_EQ(node.label(kOwnTier), "") << name;
    EXPECT_EQ(node.items("/spec/taints").size(), std::string(name) == "development" ? 0U : 1U);
  }
  EXPECT_THAT(refused_to_berth(), ::testing::IsEmpty()) << "nothing is tried in vain";

  obey(stalled);
  wait_for("the policy to be in place", 90, [&]() -> std::string {
    return is_in_place(policy()) ? "" : policy().at("/status").dump();
  });
  EXPECT_EQ(kube().get({"nodes", "training"}).label(kOwnTier), "training");

  // The chart as before: berth can't remove the labels, and reports that too.
  stop_berth();
  ASSERT_EQ(upgrade().code, 0);
  start();
  kube().patch({"gpuclusterpolicies", "cluster"}, PatchType::kMerge,
               R"({"spec": {"deletionPolicy": "Remove"}})");
  kube().remove({"gpuclusterpolicies", "cluster"});
  wait_for("the deletion to be told as stuck", 60, [&]() -> std::string {
    return policy().condition("Stalled", "reason") == "KeyForbidden"
               ? ""
               : policy().at("/status").dump();
  });
  EXPECT_THAT(policy().condition("Stalled", "message"),
              HasSubstr("which the chart does not allow berth to remove; run helm"));
  EXPECT_EQ(kube().get({"nodes", "training"}).label("gpu.berth.dev/pool"), "");
  obey(policy());
}

// Like before the chart's key lists, and like any other admission policy.
TEST_F(Examples, WhatAnAdmissionPolicyRefusesIsToldInItsWords) {
  start_berth_as_account({"--node-label-keys=all"});
  apply_policy("policy/cluster.yaml");
  const Object stalled = policy();
  EXPECT_EQ(stalled.condition("Stalled", "reason"), "WriteRefused");
  EXPECT_THAT(stalled.condition("Stalled", "message"),
              HasSubstr("denied request: berth may not change node labels gpu.example.com"));
  for (const char* name : {"inference", "development"}) wait_pool(name);
  stop_berth();
  start();
}

TEST_F(Examples, APlanAsksTheServerInTheControllersName) {
  Ran refused;
  wait_for("the API server to know the chart's policies", 30, [&]() -> std::string {
    refused = plan("tiers/policy.yaml");
    return refused.text.find("KeyForbidden") == refused.text.npos ? refused.text : "";
  });
  EXPECT_EQ(refused.exit_code, 2) << refused.text;
  EXPECT_THAT(refused.text,
              AllOf(HasSubstr("note: tried as system:serviceaccount:berth-system:berth on node "),
                    HasSubstr("berth may not change node labels gpu.example.com/tier"),
                    ContainsRegex("  KeyForbidden: pool [a-z]+ sets label gpu.example.com/tier"),
                    HasSubstr("sets taint nvidia.com/gpu=present:NoSchedule on training"),
                    Not(HasSubstr("sets label gpu.example.com/tier=training on"))));
  for (const Object& node : kube().list("nodes"))
    EXPECT_EQ(node.label(kOwnTier) + node.label("gpu.berth.dev/pool"), "")
        << "a plan writes nothing";

  EXPECT_THAT(plan("tiers/policy.yaml", {"--controller-account=nobody"}).text,
              AllOf(HasSubstr("system:serviceaccount:berth-system:nobody may not patch nodes"),
                    HasSubstr("sets label gpu.example.com/tier=training on training")));

  ASSERT_EQ(upgrade({"nodeKeys={gpu.example.com/tier}"}).code, 0);
  wait_until("the policy to let the key through", seconds(30), [&]() -> std::string {
    const Ran let = plan("tiers/policy.yaml");
    return let.text.find("note: tried") == let.text.npos ? "" : let.text;
  });
  EXPECT_THAT(plan("tiers/policy.yaml").text,
              AllOf(HasSubstr("sets label gpu.example.com/tier=training on training"),
                    Not(HasSubstr("KeyForbidden"))));
}

// A new user's cluster: neither berth's CRDs nor the GPU operator exist yet.
TEST_F(Planner, ABareClusterIsToldWhatToInstall) {
  for (const Object& set : kube().list("daemonsets", "gpu-operator"))
    kube().remove({"daemonsets", set.name(), "gpu-operator"});
  cluster().add_gpu_node({.name = "n1", .labels = {{kTier, "inferense"}}});
  EXPECT_THAT(
      plan("miglayout-a100-mixed.yaml").text,
      AllOf(HasSubstr("note: the API server does not serve gpuclusterpolicies: pools and windows "
                      "are left out (install berth's CRDs: kubectl apply -f crds/)"),
            HasSubstr("0 nodes selected"),
            HasSubstr("  no node has node.example.com/tier=inference; 1 has =inferense\n"),
            HasSubstr("Nothing below happens yet\n    install NVIDIA's GPU operator, or "),
            HasSubstr("there is no DaemonSet nvidia-mig-manager in namespace gpu-operator"),
            Not(HasSubstr("volumes:"))));
}

}  // namespace
}  // namespace berth::test
