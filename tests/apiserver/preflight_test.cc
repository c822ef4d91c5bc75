// SPDX-License-Identifier: Apache-2.0
// NVIDIA's configuration: whether any component reads berth's file, and the strategy of the device
// plugin.
#include "tests/apiserver/rollout_fixture.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kMigConfig[] = "nvidia.com/mig.config";

class Preflight : public RolloutTest {
 protected:
  void add_nodes(int count) {
    nodes_ = cluster().add_gpu_nodes(count, {});
    cluster().wait_agents_running();
  }
  void ask_for(const std::string& profiles) {
    kube().patch({"miglayouts", "inference-a100"}, PatchType::kMerge,
                 R"({"spec": {"devices": [{"profiles": )" + profiles + "}]}}");
  }

  std::vector<std::string> nodes_;
};

TEST_F(Preflight, NothingIsTouchedUntilMigManagerReadsBerthsFile) {
  kube().apply(
      "apiVersion: v1\nkind: ConfigMap\n"
      "metadata: {name: default-mig-parted-config, namespace: gpu-operator}\n"
      "data:\n  config.yaml: |\n    version: v1\n    mig-configs:\n      halves:\n"
      "      - devices: all\n        mig-enabled: true\n        mig-devices: {3g.40gb: 2}\n"
      "      all-disabled:\n      - devices: all\n        mig-enabled: false\n");
  cluster().install_agents({.config_map = "default-mig-parted-config"});
  add_nodes(2);
  kube().set_label({"nodes", "n2"}, kMigConfig, "halves");
  wait_for("n2 to have its halves", 30, [&]() -> std::string {
    return cluster().gpu_allocatable("n2") ==
                   std::map<std::string, int>{{"nvidia.com/mig-3g.40gb", 8}}
               ? ""
               : "not yet";
  });
  start_berth();
  apply({.node_selector = "{matchLabels: {kubernetes.io/hostname: n1}}"});
  wait_reason("n1", "AgentNotConfigured");
  EXPECT_THAT(detail("n1"), HasSubstr("spec.migManager.config.name: berth-mig-parted-config"));
  EXPECT_EQ(layout().number("/status/nodes/blocked"), 1);
  EXPECT_THAT(cordon_order(), IsEmpty());
  // What n2 carries stays known when mig-manager reads berth's file, and restarts.
  const std::string file = kube()
                               .get({"configmaps", "berth-mig-parted-config", "gpu-operator"})
                               .text("/data/config.yaml");
  EXPECT_THAT(file, HasSubstr("halves:"));
  EXPECT_THAT(file, HasSubstr("all-disabled:"));

  cluster().install_agents();
  wait_ready();
  EXPECT_EQ(cluster().gpu_allocatable("n1"), kMixedA100);
  const Object other = kube().get({"nodes", "n2"});
  EXPECT_EQ(other.label(kMigConfig), "halves");
  EXPECT_EQ(other.label("nvidia.com/mig.config.state"), "success");
  kube().remove({"configmaps", "default-mig-parted-config", "gpu-operator"});
}

TEST_F(Preflight, UnderStrategySingleTheHardwareIsRememberedPastItsLabels) {
  cluster().install_agents({.strategy = "single"});
  add_nodes(2);
  wait_for("discovery to say single", 30, [&]() -> std::string {
    for (const std::string& node : nodes_)
      if (kube().get({"nodes", node}).label("nvidia.com/mig.strategy") != "single") return node;
    return "";
  });
  start_berth();
  apply({.devices = "  - profiles: {1g.10gb: 7}\n",
         .spec = {"productSelector: [NVIDIA-A100-SXM4-80GB]"}});
  wait_ready();
  for (const std::string& node : nodes_)
    EXPECT_THAT(cluster().gpu_allocatable(node), ElementsAre(std::make_pair("nvidia.com/gpu", 28)));
  wait_for("discovery to tell MIG devices", 20, [&]() -> std::string {
    const std::string product = kube().get({"nodes", "n2"}).label("nvidia.com/gpu.product");
    return product == "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb" ? "" : product;
  });

  ask_for(R"({"1g.10gb": null, "2g.20gb": 3})");
  wait_ready();
  for (const std::string& node : nodes_)
    EXPECT_THAT(cluster().gpu_allocatable(node), ElementsAre(std::make_pair("nvidia.com/gpu", 12)));

  ask_for("{}");
  wait_ready();
  for (const std::string& node : nodes_)
    EXPECT_THAT(cluster().gpu_allocatable(node), ElementsAre(std::make_pair("nvidia.com/gpu", 4)));
  EXPECT_EQ(layout().number("/status/nodes/selected"), 2);
}

}  // namespace
}  // namespace berth::test
