// SPDX-License-Identifier: Apache-2.0
// Nodes whose GPUs are as a layout asks, under a config name that is not the layout's.
#include "controller/mig/named_configs.h"

#include <gmock/gmock.h>

#include "apis/base/reasons.h"
#include "controller/mig/config_geometry.h"
#include "controller/mig/rollout_choice.h"
#include "controller/mig/watch_keys.h"
#include "tests/mig/standing_fixture.h"

namespace berth::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// --- the layout of a config on four A100-80GB ---

struct ConfigCase {
  const char* says;
  const char* entries;
  bool gives;
  MigStrategy strategy = MigStrategy::kMixed;
};

NodeLayout two_off_two_cut() { return {{{}, {}, {{"1g.10gb", 7}}, {{"1g.10gb", 7}}}}; }

const std::vector<ConfigCase> kConfigs = {
    {"each GPU in an entry",
     "[{devices: [0, 1], mig-enabled: false},"
     " {devices: [2, 3], mig-enabled: true, mig-devices: {1g.10gb: 7}}]",
     true},
    {"a count of zero is no instance",
     "[{devices: [0, 1], mig-enabled: false},"
     " {devices: [3, 2], mig-enabled: true, mig-devices: {1g.10gb: 7, 2g.20gb: 0}}]",
     true},
    {"the last entry counts",
     "[{devices: all, mig-enabled: true, mig-devices: {1g.10gb: 7}},"
     " {devices: [0, 1], mig-enabled: false}]",
     true},
    {"for this product",
     "[{device-filter: [\"0x20B010DE\"], devices: all, mig-enabled: false},"
     " {device-filter: [\"0x20B210DE\", \"0x20B510DE\"], devices: [2, 3], mig-enabled: true,"
     " mig-devices: {1g.10gb: 7}}, {device-filter: \"0x20B210DE\", devices: [0, 1],"
     " mig-enabled: false}]",
     true},
    {"a filter with a subsystem",
     "[{device-filter: [\"0x20B210DE:0x146310DE\"], devices: [2, 3],"
     " mig-enabled: true, mig-devices: {1g.10gb: 7}}, {devices: [0, 1], mig-enabled: false}]",
     true},
    {"no entry for a GPU that stays whole",
     "[{devices: [2, 3], mig-enabled: true, mig-devices: {1g.10gb: 7}}]", true},
    {"the same, where the plugin shows no difference",
     "[{devices: [2, 3], mig-enabled: true, mig-devices: {1g.10gb: 7}}]", false,
     MigStrategy::kSingle},
    {"no entry for a GPU that is cut",
     "[{devices: [0, 1], mig-enabled: false},"
     " {devices: [2], mig-enabled: true, mig-devices: {1g.10gb: 7}}]",
     false},
    {"the other two",
     "[{devices: [2, 3], mig-enabled: false},"
     " {devices: [0, 1], mig-enabled: true, mig-devices: {1g.10gb: 7}}]",
     false},
    {"another count",
     "[{devices: [0, 1], mig-enabled: false},"
     " {devices: [2, 3], mig-enabled: true, mig-devices: {1g.10gb: 6}}]",
     false},
    {"MIG on without an instance",
     "[{devices: [0, 1], mig-enabled: true, mig-devices: {}},"
     " {devices: [2, 3], mig-enabled: true, mig-devices: {1g.10gb: 7}}]",
     false},
    {"for another product",
     "[{device-filter: [\"0x233010DE\"], devices: [2, 3],"
     " mig-enabled: true, mig-devices: {1g.10gb: 7}}, {devices: [0, 1], mig-enabled: false}]",
     false},
    {"GPUs that the node does not have",
     "[{devices: [0, 1, 9], mig-enabled: false},"
     " {devices: [2, 3], mig-enabled: true, mig-devices: {1g.10gb: 7}}]",
     true},
};

TEST(ConfigGeometry, IsComparedGpuByGpu) {
  const Product& a100 = *find_product("NVIDIA-A100-SXM4-80GB");
  for (const ConfigCase& c : kConfigs) {
    SCOPED_TRACE(c.says);
    const auto file =
        parse_entries(fmt::format("{{version: v1, mig-configs: {{c: {}}}}}", c.entries));
    ASSERT_TRUE(file.has_value()) << describe(file.error());
    EXPECT_EQ(config_gives(file->at("c"), a100, two_off_two_cut(), c.strategy), c.gives);
  }
}

TEST(ConfigGeometry, TheNamesOfOtherDriversMeanTheSame) {
  const Product& gb200 = *find_product("NVIDIA-GB200");
  const auto file = parse_entries(
      "{version: v1, mig-configs: {c: [{devices: all, mig-enabled: true, mig-devices: {3g.95gb: "
      "2}}]}}");
  ASSERT_TRUE(file.has_value());
  EXPECT_TRUE(config_gives(file->at("c"), gb200, {{{{"3g.93gb", 2}}}}, MigStrategy::kMixed));
}

// --- a node that names the config ---

constexpr char kSixes[] = "- devices: all\n  mig-enabled: true\n  mig-devices: {1g.10gb: 6}\n";
constexpr char kSevens[] = "- devices: all\n  mig-enabled: true\n  mig-devices: {1g.10gb: 7}\n";

class NamedConfigsTest : public StandingTest {
 protected:
  NamedConfigsTest() {
    edit_node([](Node& node) {
      node.meta.labels.set(names::kMigConfig, "all-1g.10gb");
      node.allocatable.set("nvidia.com/gpu", Quantity());
      node.allocatable.set("nvidia.com/mig-1g.10gb", Quantity::whole(28));
    });
    world_.add(pod("web").requests("nvidia.com/mig-1g.10gb", 2).on("n1"));
  }
  // Another mig-parted file.
  void put_file(const std::string& name, const std::string& config, std::string_view content) {
    ConfigMap file;
    file.meta.name = name;
    file.meta.namespace_ = world_.settings.agents_namespace;
    file.meta.uid = "uid-" + name;
    MigConfigs configs{{config, std::string(content)}};
    file.data[names::kMigPartedKey] = *render_file(configs);
    world_.add(file);
  }
  void put_default(std::string_view content = kSevens) {
    put_file("default-mig-parted-config", "all-1g.10gb", content);
  }
  void want_sixes() {
    edit_layout([](MIGLayout& now) {
      now.spec.devices = {DeviceLayout{std::nullopt, {{"1g.10gb", 6}}}};
    });
    edit_node(
        [](Node& node) { node.allocatable.set("nvidia.com/mig-1g.10gb", Quantity::whole(24)); });
    world_.render_agent_config("small");
  }
  void want_whole_gpus() {
    edit_layout([](MIGLayout& now) { now.spec.devices = {DeviceLayout{std::nullopt, {}}}; });
    world_.add(test::node("n1").a100_80(4).label("tier", "mig"));
    world_.add(pod("web").gpu(1).on("n1"));
    world_.render_agent_config("small");
  }
  // Whether it asks about evictions of its pods, or claims it.
  bool takes_n1() { return !world_.plan("layout/small").objects.empty(); }
};

TEST_F(NamedConfigsTest, ANodeThatIsAlreadyCutSoIsUpToDate) {
  put_default();
  EXPECT_THAT(told(), StartsWith("updated UpToDate"));
  EXPECT_FALSE(takes_n1());
}

TEST_F(NamedConfigsTest, ANodeWithWholeGpusIsUpToDateForALayoutThatTurnsMigOff) {
  want_whole_gpus();
  EXPECT_THAT(told(), StartsWith("updated UpToDate"));
  EXPECT_FALSE(takes_n1());
}

TEST_F(NamedConfigsTest, TheFileThatMigManagerReadsComesFirst) {
  put_default("- devices: all\n  mig-enabled: true\n  mig-devices: {2g.20gb: 3}\n");
  EXPECT_EQ(told(), "") << "it may go";
  put_file("n1-mig-config", "all-1g.10gb", kSevens);
  EXPECT_THAT(told(), StartsWith("updated"));
  put_file("theirs", "all-1g.10gb", "- devices: all\n  mig-enabled: false\n");
  ClusterPolicy nvidia;
  nvidia.meta.name = "cluster-policy";
  nvidia.mig_manager_config_map = "theirs";
  world_.add(nvidia);
  EXPECT_THAT(told(), Not(StartsWith("updated")));
}

TEST_F(NamedConfigsTest, AnotherNodesFileSaysNothing) {
  want_sixes();
  put_file("n2-mig-config", "all-1g.10gb", kSixes);
  EXPECT_EQ(told(), "");
  put_file("n1-mig-config", "all-1g.10gb", kSixes);
  EXPECT_THAT(told(), StartsWith("updated"));
}

// 28 instances on four GPUs with at most seven each: each GPU has seven, whatever its config was.
TEST_F(NamedConfigsTest, WithoutAnyFileTheOfferCountsWhereItAllowsOneLayoutOnly) {
  EXPECT_THAT(told(), StartsWith("updated"));
  EXPECT_FALSE(takes_n1());
  back([&](NodeRollout& record) { record.config = config_; });
  EXPECT_THAT(told(), StartsWith("blocked Waiting Contested")) << "berth has taken it before";
  edit_node([](Node& node) { node.meta.annotations.erase(names::kRolloutAnnotation); });
  want_sixes();
  EXPECT_EQ(told(), "") << "24 instances may be seven, seven, seven and three";
}

TEST_F(NamedConfigsTest, TheConfigOfALayoutOfAnotherNameIsTheSame) {
  label(names::kMigConfig, config_);
  MIGLayout renamed = under_way(layout("renamed").priority(10));
  world_.add(renamed);
  world_.render_agent_config("renamed");
  EXPECT_THAT(told(), StartsWith("updated UpToDate"));
  EXPECT_THAT(world_.plan("layout/renamed").objects, IsEmpty());
}

TEST_F(NamedConfigsTest, WhatAFileSaysOtherwiseDiffers) {
  put_default("- devices: [0, 1]\n  mig-enabled: true\n  mig-devices: {1g.10gb: 7}\n");
  EXPECT_EQ(told(), "");
  put_default(kSevens);
  state("failed");
  EXPECT_EQ(told(), "") << "mig-manager did not finish";
  state("success");
  EXPECT_THAT(told(), StartsWith("updated"));
}

// The file and the label match the layout, but only the node's resources count.
TEST_F(NamedConfigsTest, ANodeThatOffersSomethingElseIsCut) {
  put_default();
  edit_node([](Node& node) {
    node.allocatable.set("nvidia.com/gpu", Quantity::whole(4));
    node.allocatable.set("nvidia.com/mig-1g.10gb", Quantity());
  });
  EXPECT_EQ(told(), "");
  EXPECT_TRUE(takes_n1());
}

TEST_F(NamedConfigsTest, ANodeWhoseDevicePluginRestartsIsNotDrained) {
  put_default();
  edit_node([](Node& node) { node.allocatable.set("nvidia.com/mig-1g.10gb", Quantity()); });
  EXPECT_THAT(told(), StartsWith("pending Waiting AllocatableMismatch: all-1g.10gb gives its GPUs "
                                 "what the layout asks for, but nvidia.com/mig-1g.10gb is 0"));
  EXPECT_FALSE(takes_n1());
}

TEST_F(NamedConfigsTest, WithoutALabelOnlyWholeGpusAreCertain) {
  put_default();
  label(names::kMigConfig, "");
  state("");
  EXPECT_EQ(told(), "") << "nothing would cut it again after a reboot";
  want_whole_gpus();
  label(names::kMigConfig, "");
  state("");
  EXPECT_THAT(told(), StartsWith("updated UpToDate"));
  label(names::kGpuProduct, "NVIDIA-A100-SXM4-80GB-MIG-7g.80gb");
  EXPECT_THAT(told(), Not(StartsWith("updated")));
  label(names::kGpuProduct, "NVIDIA-A100-SXM4-80GB");
  label(names::kMigStrategy, "none");
  EXPECT_EQ(told(), "") << "the plugin offers it as whole, MIG on or off";
}

TEST_F(NamedConfigsTest, AFileThatChangesHasTheLayoutLookAgain) {
  put_default();
  const ConfigMap file =
      *world_.cluster.config_maps().find("gpu-operator", "default-mig-parted-config");
  EXPECT_THAT(told(), StartsWith("updated"));
  put_default("- devices: all\n  mig-enabled: false\n");
  EXPECT_EQ(told(), "") << "it is parsed again";
  EXPECT_THAT(mig_keys_for(world_.cluster, world_.settings, &file, &file),
              Contains("layout/small"));
}

// A node that was right before does not verify what berth writes.
TEST_F(NamedConfigsTest, TheInitialBatchIsOfNodesThatBerthCuts) {
  put_default();
  world_.add(test::node("n2").a100_80(4).label("tier", "mig"));
  world_.add(test::node("n3").a100_80(4).label("tier", "mig"));
  edit_layout([](MIGLayout& now) {
    now.spec.rollout.initial_batch = 1;
    now.spec.rollout.max_unavailable = {3, false};
    now.spec.capacity_guard.retire = {"nvidia.com/gpu"};
  });
  const Snapshot snapshot = world_.snapshot();
  const RolloutChoice choice =
      decide_rollout(snapshot, *world_.cluster.mig_layouts().find("small"));
  EXPECT_EQ(choice.take.size(), 1u);
  EXPECT_EQ(choice.nodes[2].cause.reason, reasons::kInitialBatch);
}

// --- in a rollout ---

// The layout is edited back while the node drains.
TEST_F(NamedConfigsTest, ACordonedNodeThatIsRightAfterAllIsRestored) {
  bring_to(RolloutPhase::kCordoned);
  put_default();
  EXPECT_THAT(plan(), HasSubstr("restore: the node has what the layout asks for"));
}

TEST_F(NamedConfigsTest, ARenamedLayoutDoesNotInterruptACutOfTheSame) {
  bring_to(RolloutPhase::kApplying);
  state("pending");
  world_.add(under_way(layout("renamed").priority(10)));
  world_.render_agent_config("renamed");
  EXPECT_THAT(plan(), Not(HasSubstr("continue with")));
  state("success");
  world_.now += std::chrono::seconds(60);
  EXPECT_THAT(plan(), HasSubstr("is verified: uncordon"));
}

// A user repaired a failed node by hand, with a config of their own.
TEST_F(NamedConfigsTest, AFailedNodeThatIsRightUnderAnotherNameReturns) {
  put_default();
  bring_to(RolloutPhase::kFailed);
  edit_record([&](NodeRollout& record) { record.failed_config = config_; });
  world_.now += std::chrono::seconds(60);
  EXPECT_THAT(plan(), HasSubstr("is verified: uncordon"));
  EXPECT_EQ(written().failed_config, "");
}

}  // namespace
}  // namespace berth::test
