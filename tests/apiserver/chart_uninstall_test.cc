// SPDX-License-Identifier: Apache-2.0
// Special cases of install and uninstall: a refused uninstall, a release that Helm takes for half
// removed, nodes that are out of service for their health, and a cluster where berth ran without
// the chart.
#include <fmt/format.h>

#include "tests/apiserver/chart_fixture.h"
#include "tests/support/places.h"

namespace berth::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kPolicy[] =
    "apiVersion: gpu.berth.dev/v1alpha1\nkind: GPUClusterPolicy\nmetadata: {name: cluster}\n"
    "spec:\n"
    "  pools: [{name: all, nodeSelector: {}}]\n"
    "  health: {action: Cordon, maxUnhealthyFraction: \"100%\"}\n"
    "  disruption: {maxUnavailable: \"100%\"}\n";

class ChartUninstall : public ChartTest {
 protected:
  void SetUp() override {
    invariants_.pool_labels = {"gpu.berth.dev/pool", "nvidia.com/device-plugin.config"};
    ChartTest::SetUp();
  }
  std::string helm_status() {
    const std::string text = helm({"status", "berth"}).text;
    const std::size_t at = text.find("STATUS: ");
    return at == text.npos ? text : text.substr(at + 8, text.find('\n', at) - at - 8);
  }
  // The condition of AKS' node problem detector.
  void say_gpu_missing(const std::string& node, bool missing) {
    kube().patch(
        {"nodes", node}, PatchType::kStrategic,
        fmt::format(R"({{"status": {{"conditions": [{{"type": "GPUMissing", "status": "{}",)"
                    R"( "reason": "GPUMissing", "message": "3 of 4"}}]}}}})",
                    missing ? "True" : "False"),
        "status");
  }
  std::string cordoned_nodes() {
    return kube().get({"gpuclusterpolicies", "cluster"}).text("/status/totals/cordonedNodes");
  }
  // n1 is out of service for its health, and the policy reports it.
  void break_node() {
    kube().apply(kPolicy);
    say_gpu_missing("n1", true);
    wait_for("n1 to be cordoned and counted", 40, [&]() -> std::string {
      return cordoned("n1") && cordoned_nodes() == "1"
                 ? ""
                 : kube().get({"gpuclusterpolicies", "cluster"}).at("/status").dump();
    });
  }
  void report_only() {
    kube().patch({"gpuclusterpolicies", "cluster"}, PatchType::kMerge,
                 R"({"spec": {"health": {"action": "Report"}}})");
    wait_for("n1 to be back", 40, [&]() -> std::string {
      return !cordoned("n1") && cordoned_nodes().empty() ? "" : "it is out";
    });
  }
  void install_and_start() {
    cluster().add_gpu_nodes(1, {});
    cluster().wait_agents_running();
    const Said installed = install();
    ASSERT_EQ(installed.code, 0) << installed.text;
    start_berth_as_account();
  }
  // Restores the policies of earlier releases, which did not read the release's record.
  void forget_the_record() {
    for (const char* name : {"berth-uninstall", "berth-uninstall-health", "berth-uninstall-queues"})
      kube().patch({"validatingadmissionpolicies", name}, PatchType::kJson,
                   R"([{"op": "remove", "path": "/spec/matchConstraints/resourceRules/1"}])");
  }
};

TEST_F(ChartUninstall, IsRefusedForNodesThatHealthCordonedAndLeavesTheReleaseDeployed) {
  install_and_start();
  break_node();

  const Said refused = helm({"uninstall", "berth"});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.text,
              AllOf(HasSubstr("nodes are cordoned for their health (1)"),
                    HasSubstr("set spec.health.action: Report"), HasSubstr("berth release --all")));
  EXPECT_EQ(helm_status(), "deployed");
  const Said upgraded = upgrade({"replicas=1"});
  EXPECT_EQ(upgraded.code, 0) << upgraded.text;

  const Said told =
      run({berth_program(), "release", "--all", "--kubeconfig",
           plane().write_kubeconfig("release.kubeconfig", person("rescuer", "berth-release"))});
  EXPECT_EQ(told.code, 0) << told.text;
  EXPECT_THAT(told.text, AllOf(HasSubstr("Node/n1  cordoned for its health: condition GPUMissing"),
                               HasSubstr("1 node is cordoned by berth")));
  EXPECT_TRUE(cordoned("n1")) << "it is only told";

  report_only();
  wait_for("the uninstall to be let through", 30, [&]() -> std::string {
    const Said gone = helm({"uninstall", "berth", "--wait"});
    return gone.code == 0 ? "" : gone.text;
  });
}

TEST_F(ChartUninstall, OfAPolicyThatIsDeletedWaitsForItsNodes) {
  install_and_start();
  break_node();
  kube().set_annotation({"nodes", "n1"}, "gpu.berth.dev/hold", "mine");
  kube().patch({"gpuclusterpolicies", "cluster"}, PatchType::kMerge,
               R"({"spec": {"deletionPolicy": "Remove"}})");
  kube().remove({"gpuclusterpolicies", "cluster"});
  const Said refused = helm({"uninstall", "berth"});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.text, HasSubstr("GPUClusterPolicy"));
  EXPECT_TRUE(cordoned("n1")) << "a person holds it";
  kube().set_annotation({"nodes", "n1"}, "gpu.berth.dev/hold", "");
  wait_for("the policy to be gone", 40, [&]() -> std::string {
    return kube().find({"gpuclusterpolicies", "cluster"}) ? "it is there" : "";
  });
  EXPECT_FALSE(cordoned("n1"));
  wait_for("the uninstall to be let through", 30, [&]() -> std::string {
    const Said gone = helm({"uninstall", "berth", "--wait"});
    return gone.code == 0 ? "" : gone.text;
  });
}

// With the chart of an earlier release, or if Helm keeps its releases in a database.
TEST_F(ChartUninstall, OfAReleaseThatIsLeftUninstallingIsRolledBack) {
  install_and_start();
  break_node();
  forget_the_record();
  wait_for("a refused uninstall to leave its mark", 20, [&]() -> std::string {
    EXPECT_NE(helm({"uninstall", "berth"}).code, 0);
    const std::string status = helm_status();
    return status == "uninstalling" ? "" : status;
  });
  const Said stuck = upgrade({"replicas=1"});
  EXPECT_NE(stuck.code, 0);
  EXPECT_THAT(stuck.text, HasSubstr("has no deployed releases"));

  const Said back = helm({"rollback", "berth", "1", "--force-conflicts", "--wait", "--timeout",
                          "90s"});  // conflicts with what forget_the_record() wrote
  EXPECT_EQ(back.code, 0) << back.text;
  EXPECT_EQ(helm_status(), "deployed");
  const Said upgraded = upgrade({"replicas=1"});
  EXPECT_EQ(upgraded.code, 0) << upgraded.text;
  report_only();
}

// The README's way without Helm: CRDs by kubectl, and a controller with an administrator's rights.
TEST_F(ChartUninstall, NothingStandsInTheWayOfAnInstallAfterAStartWithoutHelm) {
  cluster().add_gpu_nodes(2, {});
  cluster().wait_agents_running();
  kube().apply_folder(source_dir() + "/crds");
  wait_for("the kinds to be served", 30, [&]() -> std::string {
    for (const char* kind : {"miglayouts", "gpuclusterpolicies", "gpuqueues"}) kube().list(kind);
    return "";
  });
  start_berth({"--agent-configmap-delay=3s"});
  apply({.node_selector = "{matchLabels: {kubernetes.io/hostname: n1}}"});
  kube().apply(
      "apiVersion: gpu.berth.dev/v1alpha1\nkind: GPUClusterPolicy\nmetadata: {name: cluster}\n"
      "spec:\n  pools:\n  - name: dev\n"
      "    nodeSelector: {matchLabels: {kubernetes.io/hostname: n2}}\n"
      "    sharing: {strategy: TimeSlicing, replicas: 4}\n");
  wait_ready();
  wait_for("both files of NVIDIA's agents", 40, [&]() -> std::string {
    for (const char* file : {"berth-mig-parted-config", "berth-device-plugin-config"})
      if (!kube().find({"configmaps", file, "gpu-operator"})) return file;
    return "";
  });
  stop_berth();
  const auto data_of = [&](const char* file) {
    return kube().get({"configmaps", file, "gpu-operator"}).strings("/data");
  };
  const auto layouts = data_of("berth-mig-parted-config");
  const auto plugin = data_of("berth-device-plugin-config");

  const Said plain = install();
  EXPECT_NE(plain.code, 0);
  EXPECT_THAT(plain.text, HasSubstr("cannot be imported"));
  EXPECT_THAT(helm({"status", "berth"}).text, HasSubstr("not found"));

  const Said installed = helm({"install", "berth", source_dir() + "/helm/berth", "--take-ownership",
                               "--wait", "--timeout", "90s", "--set", "webhook.enabled=false"});
  ASSERT_EQ(installed.code, 0) << installed.text;
  EXPECT_EQ(data_of("berth-mig-parted-config"), layouts);
  EXPECT_EQ(data_of("berth-device-plugin-config"), plugin);
  start_berth_as_account();
  wait_ready();
  const Said upgraded = upgrade({"replicas=1"});
  EXPECT_EQ(upgraded.code, 0) << upgraded.text;
  kube().remove({"gpuclusterpolicies", "cluster"});
  wait_for("the policy to be gone", 40, [&]() -> std::string {
    return kube().find({"gpuclusterpolicies", "cluster"}) ? "it is there" : "";
  });
}

}  // namespace
}  // namespace berth::test
