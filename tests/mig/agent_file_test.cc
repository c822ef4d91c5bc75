// SPDX-License-Identifier: Apache-2.0
// The content of mig-manager's file: what layouts mean on their nodes, which configs nodes name,
// and which layouts are left out if all of it does not fit.
#include "controller/mig/agent_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "controller/mig/agent_config.h"
#include "tests/mig/one_node.h"

namespace berth::test {
namespace {

using std::chrono::hours;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct AgentFileTest : OneNode {
  AgentFile file() {
    Result<AgentFile> made = compute_agent_file(world_.snapshot());
    EXPECT_TRUE(made.has_value());
    return made ? *std::move(made) : AgentFile{};
  }
  // The configs' names, without their aliases.
  std::vector<std::string> configs() {
    std::vector<std::string> names;
    const Result<MigConfigs> parsed = parse_file(file().text);
    EXPECT_TRUE(parsed.has_value());
    for (const auto& [name, content] : *parsed)
      if (name.find("-r") == name.npos) names.push_back(name);
    return names;
  }
  void add_file(const std::string& namespace_, const std::string& name, const std::string& config,
                const std::string& devices) {
    ConfigMap map;
    map.meta.namespace_ = namespace_;
    map.meta.name = name;
    map.data[names::kMigPartedKey] =
        fmt::format("version: v1\nmig-configs:\n  {}:\n  - devices: {}\n    mig-enabled: false\n",
                    config, devices);
    world_.add(map);
  }
  void name_config(const char* node, const char* config) {
    world_.add(test::node(node).a100_80(4).label(names::kMigConfig, config));
  }
};

TEST_F(AgentFileTest, HoldsAConfigForEachKindOfNodeThatALayoutSelects) {
  EXPECT_THAT(configs(), ElementsAre("all-disabled", config_));
  world_.add(test::node("n2").a100_80(4).label("tier", "mig"));
  EXPECT_THAT(configs(), ElementsAre("all-disabled", config_)) << "one kind";
  world_.add(test::node("n3").a100_80(8).label("tier", "mig"));
  EXPECT_THAT(configs(), SizeIs(3)) << "another count of GPUs";
  world_.add(test::node("n4").a100_80(2));
  EXPECT_THAT(configs(), SizeIs(3)) << "which nobody selects";
  world_.add(test::node("n5").a100_80(1).label("tier", "mig").label(names::kMigStrategy, "weird"));
  EXPECT_THAT(configs(), SizeIs(3)) << "which the layout does not fit";
  break_rules();
  EXPECT_THAT(configs(), ElementsAre("all-disabled"));
}

TEST_F(AgentFileTest, HoldsWhatAnyNodeNamesAsTheFirstFileHasIt) {
  name_config("n2", "theirs");
  EXPECT_THAT(configs(), ElementsAre("all-disabled", config_)) << "nobody knows it";
  add_file("elsewhere", "a", "theirs", "[7]");
  EXPECT_THAT(configs(), ElementsAre("all-disabled", config_)) << "in another namespace";
  add_file("gpu-operator", "b", "theirs", "[1]");
  EXPECT_THAT(configs(), ElementsAre("all-disabled", config_, "theirs"));
  add_file("gpu-operator", "c", "theirs", "[2]");
  EXPECT_THAT(file().text, HasSubstr("  theirs:\n    - devices: [1]\n"));
  world_.render_agent_config("small");
  add_file("gpu-operator", "a", "theirs", "[3]");
  EXPECT_THAT(file().text, HasSubstr("- devices: [1]\n")) << "berth's own file comes first";
}

// mig-manager generates a file for each node. Once it reads berth's file, it applies what that
// says.
TEST_F(AgentFileTest, KeepsWhatGeneratedFilesOfTwoModelsSayUnderOneName) {
  world_.add(test::node("a100").a100_80(4).label(names::kMigConfig, "all-1g.10gb"));
  world_.add(test::node("a40g")
                 .a100_80(4)
                 .label(names::kGpuProduct, "NVIDIA-A100-SXM4-40GB")
                 .label("nvidia.com/gpu.memory", "40960")
                 .label(names::kMigConfig, "all-1g.10gb"));
  const auto generate = [&](const std::string& node, int count) {
    ConfigMap map;
    map.meta.namespace_ = "gpu-operator";
    map.meta.name = node + "-mig-config";
    map.data[names::kMigPartedKey] = fmt::format(
        "version: v1\nmig-configs:\n  all-1g.10gb:\n  - devices: all\n    mig-enabled: true\n"
        "    mig-devices: {{1g.10gb: {}}}\n",
        count);
    world_.add(map);
  };
  generate("a100", 7);
  generate("a40g", 7);
  EXPECT_THAT(file().text, HasSubstr("  all-1g.10gb:\n    - devices: all\n")) << "they agree";
  generate("a40g", 4);
  EXPECT_THAT(file().text, HasSubstr("  all-1g.10gb:\n"
                                     "    - device-filter: [\"0x20B010DE\", \"0x20B110DE\", "
                                     "\"0x20BD10DE\", \"0x20F110DE\", \"0x20F610DE\"]\n"
                                     "      devices: all\n"
                                     "      mig-enabled: true\n"
                                     "      mig-devices:\n"
                                     "        \"1g.10gb\": 4\n"
                                     "    - device-filter: [\"0x20B210DE\", "));
}

// The file that mig-manager reads counts, whatever other files exist.
TEST_F(AgentFileTest, KeepsWhatTheFileSaysThatClusterPolicyNames) {
  name_config("n2", "theirs");
  add_file("gpu-operator", "a", "theirs", "[1]");
  add_file("gpu-operator", "used", "theirs", "[2]");
  ClusterPolicy nvidia;
  nvidia.meta.name = "cluster-policy";
  nvidia.mig_manager_config_map = "used";
  world_.add(nvidia);
  EXPECT_THAT(file().text, HasSubstr("  theirs:\n    - devices: [2]\n"));
}

TEST_F(AgentFileTest, FilesThatCannotBeReadAreNone) {
  name_config("n2", "theirs");
  ConfigMap junk;
  junk.meta.namespace_ = "gpu-operator";
  junk.meta.name = "a";
  junk.data[names::kMigPartedKey] = "not: one";
  ConfigMap other;
  other.meta.namespace_ = "gpu-operator";
  other.meta.name = "b";
  world_.add(junk).add(other);
  add_file("gpu-operator", "c", "theirs", "[1]");
  EXPECT_THAT(configs(), ElementsAre("all-disabled", config_, "theirs"));
  EXPECT_EQ(agent_file_of(nullptr), nullptr);
  EXPECT_EQ(agent_file_of(&other), nullptr);
  EXPECT_EQ(*agent_file_of(&junk), "not: one");
}

TEST_F(AgentFileTest, NothingIsLeftOutWhileAllFits) {
  EXPECT_THAT(file().left_out, IsEmpty());
  EXPECT_EQ(file().find_left_out(*world_.cluster.mig_layouts().find("small")), nullptr);
}

TEST_F(AgentFileTest, WhatIsDroppedIsToldWithoutAliasesOfFilesThatAgentsCanRead) {
  const std::string standing = file().text;
  EXPECT_THAT(configs_dropped(standing, standing), IsEmpty());
  break_rules();
  const std::string less = file().text;
  EXPECT_THAT(configs_dropped(standing, less), ElementsAre(config_));
  EXPECT_THAT(configs_dropped(less, standing), IsEmpty());
  EXPECT_THAT(configs_dropped("not: one", less), IsEmpty()) << "it serves nobody";
}

// A config of some 14 kB on a node with 16 GPUs, four times because of its aliases.
MIGLayout large(int number) {
  std::vector<ProfileCounts> kinds;
  for (int more = 1; more <= 7; ++more) kinds.push_back({{"1g.10gb", more}});
  for (int more = 1; more <= 5; ++more) kinds.push_back({{"1g.10gb", more}, {"2g.20gb", 1}});
  for (int more = 1; more <= 3; ++more) kinds.push_back({{"1g.10gb", more}, {"2g.20gb", 2}});
  for (int more = 1; more <= 4; ++more) kinds.push_back({{"1g.10gb", more}, {"3g.40gb", 1}});
  MIGLayout made = layout(fmt::format("large-{:03}", number));
  made.spec.devices.clear();
  for (int gpu = 0; gpu < 16; ++gpu) {
    const std::size_t kind =
        static_cast<std::size_t>(gpu * (1 + number / 19) + number) % kinds.size();
    made.spec.devices.push_back(DeviceLayout{std::vector<std::int32_t>{gpu}, kinds[kind]});
  }
  made.spec.node_selector = LabelSelector{{{"tier", "large"}}, {}};
  return made;
}

TEST_F(AgentFileTest, WhereNotAllFitsWhatStandsStaysAndThenTheOldestComeFirst) {
  world_.add(test::node("n2").a100_80(16).label("tier", "large"));
  name_config("n3", "theirs");
  add_file("gpu-operator", "a", "theirs", "[1]");
  constexpr int kCount = 270;
  for (int i = 0; i < kCount; ++i) {
    MIGLayout made = large(i);
    made.meta.creation_timestamp = world_.now - hours(i);  // the last by name is the oldest
    world_.add(made);
  }
  MIGLayout young = layout_;
  young.meta.creation_timestamp = world_.now + hours(1);
  world_.add(young);
  const AgentFile full = file();
  ASSERT_THAT(full.left_out, testing::Not(IsEmpty()));
  EXPECT_GT(full.text.size(), kMaxConfigBytes - 10000) << "as many as fit are in it";
  EXPECT_LE(full.text.size(), kMaxConfigBytes);
  EXPECT_THAT(full.text, HasSubstr("\n  " + config_ + ":")) << "it stands in the file";
  EXPECT_THAT(full.text, HasSubstr("\n  theirs:")) << "a node names it";
  EXPECT_THAT(full.text, HasSubstr("berth-large-269-"));
  EXPECT_THAT(full.text, testing::Not(HasSubstr("berth-large-000-"))) << "the youngest";
  const MIGLayout& out = *world_.cluster.mig_layouts().find("large-000");
  ASSERT_NE(full.find_left_out(out), nullptr);
  EXPECT_THAT(full.find_left_out(out)->why, HasSubstr("use fewer MIGLayouts"));
  EXPECT_EQ(full.find_left_out(*world_.cluster.mig_layouts().find("large-269")), nullptr);

  ConfigMap standing =
      *world_.cluster.config_maps().find("gpu-operator", world_.settings.mig_config_map);
  standing.data[names::kMigPartedKey] = full.text;
  world_.add(standing);
  MIGLayout oldest = out;
  oldest.meta.creation_timestamp = world_.now - hours(1000);
  world_.add(oldest);
  EXPECT_THAT(file().text, testing::Not(HasSubstr("berth-large-000-")))
      << "whoever stands there stays, however old the newcomer is";
}

}  // namespace
}  // namespace berth::test
