// SPDX-License-Identifier: Apache-2.0
// One GPU, told in every way in which exporters and Prometheus tell it: it is the same GPU.
#include <fmt/format.h>

#include "apis/base/names.h"
#include "tests/observe/measured.h"

namespace berth::test {
namespace {

struct World {
  const char* says;
  const char* labels;
};
const World kWhole[] = {
    {"the exporter itself, old", R"(Hostname="n1",namespace="team-a",pod="p")"},
    {"the exporter itself, new", R"(hostname="n1",namespace="team-a",pod="p")"},
    {"the host's full name", R"(Hostname="n1.example.com",namespace="team-a",pod="p")"},
    {"old names of pods", R"(Hostname="n1",pod_namespace="team-a",pod_name="p")"},
    {"old names, and Prometheus' own",
     R"(Hostname="n1",pod_namespace="team-a",pod_name="p",namespace="gpu-operator",pod="dcgm")"},
    {"honorLabels off",
     R"(Hostname="n1",exported_namespace="team-a",exported_pod="p",namespace="gpu-operator",pod="dcgm")"},
    {"honorLabels off, new",
     R"(hostname="n1",exported_namespace="team-a",exported_pod="p",namespace="gpu-operator",pod="dcgm")"},
    {"honorLabels on, the address besides",
     R"(Hostname="n1",instance="10.0.0.1:9400",namespace="team-a",pod="p")"},
    {"only relabelling tells the node", R"(node="n1",namespace="team-a",pod="p")"},
    {"only the address tells the node", R"(instance="n1:9400",namespace="team-a",pod="p")"},
    {"only the exporter's pod tells the node",
     R"(exported_namespace="team-a",exported_pod="p",namespace="gpu-operator",pod="dcgm")"},
    {"the host is the exporter's pod",
     R"(Hostname="dcgm",instance="10.0.0.1:9400",namespace="team-a",pod="p")"},
};

Measured with_pods() {
  Measured measured;
  measured.run(pod("p").gpu(1).on("n1"));
  measured.run(pod("dcgm").in("gpu-operator").on("n1").label("app", "nvidia-dcgm-exporter"));
  return measured;
}

TEST(LabelWorlds, AreOneGpuWithOneHolder) {
  static_assert(std::size(kWhole) == 12);
  for (const World& world : kWhole) {
    SCOPED_TRACE(world.says);
    Measured measured = with_pods();
    measured.look(
        fmt::format("DCGM_FI_DEV_GPU_UTIL{{gpu=\"0\",UUID=\"GPU-a\",modelName=\"NVIDIA "
                    "A100\",{}}} 42\n",
                    world.labels));
    const std::vector<GpuSample>& gpus = measured.samples.on("n1");
    ASSERT_EQ(gpus.size(), 1u);
    EXPECT_EQ(gpus[0].uuid, "GPU-a");
    EXPECT_FLOAT_EQ(gpus[0].activity.value(), 0.42F);
    ASSERT_EQ(gpus[0].holders.size(), 1u);
    EXPECT_EQ(gpus[0].holders[0].pod, "p");
  }
}

// A cloud's node may be named otherwise than its host; others' hosts are nobody's.
TEST(LabelWorlds, AHostIsFoundByItsNodesLabel) {
  Measured measured = with_pods();
  measured.cluster.upsert<Node>(node("n1").a100_80(4).label(names::kHostnameLabel, "ip-10-0-0-1"),
                                measured.now);
  measured.look(
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"ip-10-0-0-1\"} 42\n"
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-b\",Hostname=\"ip-10-0-0-2\"} 42\n");
  ASSERT_EQ(measured.samples.on("n1").size(), 1u);
  EXPECT_EQ(measured.samples.on("n1")[0].uuid, "GPU-a");
}

// A holder's name is anybody's to write.
TEST(LabelWorlds, AHolderDoesNotTellTheNode) {
  Measured measured = with_pods();
  measured.look(
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"fake\",instance=\"10.0.0.1:9400\","
      "exported_namespace=\"team-a\",exported_pod=\"p\",namespace=\"team-b\",pod=\"fake\"} 0\n");
  EXPECT_TRUE(measured.samples.on("n1").empty());
}

// Prometheus fills the exporter's own pod in where the exporter names none.
TEST(LabelWorlds, TheExporterHoldsNoGpu) {
  Measured measured = with_pods();
  measured.look(
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\",namespace=\"gpu-operator\","
      "pod=\"dcgm\"} 0\n");
  ASSERT_EQ(measured.samples.on("n1").size(), 1u);
  EXPECT_TRUE(measured.samples.on("n1")[0].holders.empty());
}

TEST(LabelWorlds, InstancesAreMeasuredByTheirEngineAlone) {
  Measured measured = with_pods();
  const std::string labels =
      R"(gpu="0",UUID="GPU-a",Hostname="n1",GPU_I_PROFILE="3g.40gb",GPU_I_ID="2",namespace="team-a",pod="p")";
  measured.look("DCGM_FI_DEV_GPU_UTIL{" + labels + "} 0\n");
  ASSERT_TRUE(measured.samples.on("n1").empty()) << "zero is what it says of all instances";
  measured.look("DCGM_FI_PROF_GR_ENGINE_ACTIVE{" + labels + "} 0.5\nDCGM_FI_DEV_GPU_UTIL{" +
                labels + "} 0\n");
  ASSERT_EQ(measured.samples.on("n1").size(), 1u);
  EXPECT_FLOAT_EQ(measured.samples.on("n1")[0].activity.value(), 0.5F);
  EXPECT_EQ(measured.samples.on("n1")[0].instance, "2");
}

// Each of three pods has its own part of the GPU, or each is told the same of all of it.
TEST(LabelWorlds, SharersAreAddedOnlyWhereTheyDiffer) {
  for (const auto& [values, expected] :
       {std::pair(std::array{3, 2, 4}, 0.09F), std::pair(std::array{40, 40, 40}, 0.4F)}) {
    Measured measured;
    std::string text;
    for (int i = 0; i < 3; ++i) {
      const std::string name = "p" + std::to_string(i);
      measured.run(pod(name).gpu(1).on("n1"));
      text += fmt::format(
          "DCGM_FI_DEV_GPU_UTIL{{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\",vgpu=\"{}\",namespace="
          "\"team-a\",pod=\"{}\"}} {}\n",
          i, name, values[static_cast<std::size_t>(i)]);
    }
    measured.look(text);
    ASSERT_EQ(measured.samples.on("n1").size(), 1u);
    EXPECT_FLOAT_EQ(measured.samples.on("n1")[0].activity.value(), expected);
    EXPECT_EQ(measured.samples.on("n1")[0].holders.size(), 3u);
  }
}

struct Number {
  const char* counter;
  const char* number;
  Truth verdict;
};
TEST(Counters, BlanksAreNothingAndOtherUnitsAreLies) {
  const Number numbers[] = {{"DCGM_FI_DEV_GPU_UTIL", "100", Truth::kGood},
                            {"DCGM_FI_DEV_GPU_UTIL", "0.42", Truth::kLie},
                            {"DCGM_FI_DEV_GPU_UTIL", "2147483632", Truth::kBlank},
                            {"DCGM_FI_DEV_GPU_UTIL", "9223372036854775794", Truth::kBlank},
                            {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", "140737488355328", Truth::kBlank},
                            {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", "42", Truth::kLie},
                            {"DCGM_FI_DEV_FB_USED", "80000", Truth::kGood},
                            {"DCGM_FI_DEV_FB_USED", "85899345920", Truth::kLie},
                            {"DCGM_FI_DEV_POWER_USAGE", "-1", Truth::kLie},
                            {"DCGM_FI_DEV_GPU_TEMP", "NaN", Truth::kBlank}};
  for (const Number& number : numbers)
    EXPECT_EQ(read_counter(*find_counter(number.counter), std::stod(number.number)).verdict,
              number.verdict)
        << number.counter << ' ' << number.number;
}

}  // namespace
}  // namespace berth::test
