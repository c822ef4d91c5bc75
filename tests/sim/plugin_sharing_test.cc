// SPDX-License-Identifier: Apache-2.0
// NVIDIA's device plugin and discovery on a simulated node whose label names a key of the plugin's
// file.
#include "apis/base/names.h"
#include "tests/sim/gpu_agents_fixture.h"

namespace berth::sim {
namespace {

using namespace std::chrono_literals;

class PluginSharingTest : public GpuAgentsFixture {
 protected:
  void SetUp() override {
    GpuAgentsFixture::SetUp();
    const nlohmann::json data = {{"default", "version: v1\n"},
                                 {"lab-1", sliced("false", 4)},
                                 {"lab-2", sliced("true", 2)},
                                 {"junk", "sharing: ["}};
    person_.create(
        "configmaps",
        {{"apiVersion", "v1"},
         {"kind", "ConfigMap"},
         {"metadata", {{"name", "berth-device-plugin-config"}, {"namespace", "gpu-operator"}}},
         {"data", data}});
  }
  static std::string sliced(const std::string& renames, int replicas) {
    return "version: v1\nsharing:\n  timeSlicing:\n    renameByDefault: " + renames +
           "\n    resources:\n    - {name: nvidia.com/gpu, replicas: " + std::to_string(replicas) +
           "}\n";
  }
  void name_key(const nlohmann::json& key) {
    set_label(names::kDevicePluginConfig, key);
    world_.run_for(2min);
  }
};

TEST_F(PluginSharingTest, OffersEachGpuToSeveralPods) {
  name_key("lab-1");
  EXPECT_EQ(allocatable(), (Counts{{"nvidia.com/gpu", "16"}}));
  EXPECT_EQ(label("nvidia.com/gpu.replicas"), "4");
  EXPECT_EQ(label("nvidia.com/gpu.sharing-strategy"), "time-slicing");
  EXPECT_EQ(label("nvidia.com/gpu.product"), "NVIDIA-A100-SXM4-80GB-SHARED");
  name_key("default");
  EXPECT_EQ(allocatable(), kWhole);
  EXPECT_EQ(label("nvidia.com/gpu.sharing-strategy"), "none");
  EXPECT_EQ(label("nvidia.com/gpu.product"), "NVIDIA-A100-SXM4-80GB");
}

TEST_F(PluginSharingTest, OffersUnderAnotherName) {
  name_key("lab-2");
  EXPECT_EQ(allocatable(), (Counts{{"nvidia.com/gpu", "0"}, {"nvidia.com/gpu.shared", "8"}}));
  EXPECT_EQ(label("nvidia.com/gpu.product"), "NVIDIA-A100-SXM4-80GB");
}

TEST_F(PluginSharingTest, OffersNothingWhereItsConfigIsMissing) {
  for (const char* key : {"nowhere", "junk"}) {
    name_key(key);
    EXPECT_EQ(allocatable(), (Counts{{"nvidia.com/gpu", "0"}})) << key;
  }
  name_key(nullptr);
  EXPECT_EQ(allocatable(), kWhole);
}

}  // namespace
}  // namespace berth::sim
