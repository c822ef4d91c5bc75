// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/agent_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "controller/core/content_hash.h"

namespace berth {
namespace {

using ::testing::HasSubstr;

const ProfileCounts kBalanced{{"3g.40gb", 1}, {"2g.20gb", 1}, {"1g.10gb", 2}};
const ProfileCounts kMedia{{"1g.10gb", 6}, {"1g.10gb+me", 1}};

TEST(AgentConfig, RendersEachIndexOnce) {
  EXPECT_EQ(render_config({{kBalanced, kBalanced, kMedia, {}, kBalanced}}),
            R"(- devices: [0, 1, 4]
  mig-enabled: true
  mig-devices:
    "1g.10gb": 2
    "2g.20gb": 1
    "3g.40gb": 1
- devices: [2]
  mig-enabled: true
  mig-devices:
    "1g.10gb": 6
    "1g.10gb+me": 1
- devices: [3]
  mig-enabled: false
)");
}

TEST(AgentConfig, NamesCarryTheContent) {
  const std::string a = render_config({{kBalanced}}), b = render_config({{kMedia}});
  EXPECT_EQ(config_name("inference", a), config_name("inference", a));
  EXPECT_NE(config_name("inference", a), config_name("inference", b));
  EXPECT_EQ(config_name("inference", a), "berth-inference-" + content_hash(a));
  // Pinned: if a release changed the hash, every node of a fleet would be repartitioned.
  EXPECT_EQ(content_hash(""), "4fd0bfc1");
  EXPECT_EQ(content_hash("a"), "296230c0");
  EXPECT_EQ(combined_hash({a, b}), combined_hash({b, a}));
  EXPECT_NE(combined_hash({a, b}), combined_hash({a}));
  EXPECT_EQ(combined_hash({a}), content_hash(a));
  EXPECT_NE(combined_hash({a, b}), combined_hash({a, "c"}));
  EXPECT_NE(combined_hash({"ab", "c"}), combined_hash({"a", "bc"}));
  EXPECT_EQ(combined_hash({}).size(), 8u);
}

TEST(AgentConfig, NamesAreLabelValues) {
  for (std::size_t length : {1, 40, 63, 253}) {
    const std::string name = config_name(std::string(length, 'x'), "content");
    for (int attempt = 0; attempt < 9; ++attempt) {
      const std::string value = alias(name, attempt);
      EXPECT_LE(value.size(), 63u);
      EXPECT_TRUE(std::all_of(value.begin(), value.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_';
      })) << value;
    }
  }
}

TEST(AgentConfig, EachRetryHasAnotherNameForTheSameContent) {
  const std::string name = config_name("inference-a100", "content");
  std::set<std::string> seen;
  for (int attempt = 0; attempt < 9; ++attempt) {
    EXPECT_NE(alias(name, attempt), alias(name, attempt + 1));
    EXPECT_EQ(strip_alias(alias(name, attempt)), name);
    EXPECT_TRUE(is_berth_config(alias(name, attempt)));
    seen.insert(alias(name, attempt));
  }
  MigConfigs configs;
  add_config(configs, name, "content");
  EXPECT_EQ(configs.size(), 4u);
  for (const std::string& written : seen) EXPECT_TRUE(configs.contains(written)) << written;
  EXPECT_EQ(alias(name, -1), name);
}

TEST(AgentConfig, OthersNamesAreLeftAlone) {
  for (const char* name :
       {"all-disabled", "custom-r1", "berth-r1", "berth-x-r2", "berth-x-zzzzzzzz-r1", "",
        "berth-x-0123abcd-r4", "berth--0123abcd-r", "-r1", "berth-x-0123abcd-r0",
        "berth-x-0123abcd-r11", "berth-x-1234.678", "berth-x-ABCDEF01", "berth-x-0123456g",
        "other-x-01234567", "berth-xx01234567", "berth-01234567"}) {
    EXPECT_EQ(strip_alias(name), name);
    EXPECT_FALSE(is_berth_config(name)) << name;
  }
  for (const char* name : {"berth-x-01234567", "berth-x-99999999", "berth-x-aaaaaaaa",
                           "berth-x-ffffffff", "berth-x-00000000-r3"})
    EXPECT_TRUE(is_berth_config(name)) << name;
  EXPECT_EQ(strip_alias("berth-x-r1-0123abcd"), "berth-x-r1-0123abcd") << "a layout called x-r1";
}

TEST(AgentConfig, KeysStandBareOnlyWhereYamlReadsThemAsText) {
  for (const char* name : {"a", "z9", "Az", "Zz", "a.b_c-d", "a0", "all-disabled"})
    EXPECT_EQ(render_configs({{name, ""}}), "  " + std::string(name) + ":\n");
  for (const char* name : {"", "9x", "1e3", "_x", "-x", "{x", "a b", "a{", "a/", "a:", "a`", "TRUE",
                           "No", "on", "null"})
    EXPECT_EQ(render_configs({{name, ""}}), "  \"" + std::string(name) + "\":\n");
  EXPECT_EQ(quote_yaml("a b\x1f\x7f\"\\"), R"("a b\x1f\x7f\"\\")");
}

TEST(AgentConfig, AFileMayFillItsConfigMap) {
  EXPECT_TRUE(check_file_size(kMaxConfigBytes));
  EXPECT_FALSE(check_file_size(kMaxConfigBytes + 1));
}

TEST(AgentConfig, FileRoundTrips) {
  MigConfigs configs;
  const std::string content = render_config({{kBalanced, {}, kMedia}});
  add_config(configs, config_name("inference", content), content);
  configs["all-disabled"] = render_entry({.devices = "all"});
  configs["on"] = render_entry(
      {.device_filter = {"0x20B210DE", "0x20B510DE"}, .devices = "all", .mig_enabled = true});
  configs["a \"strange\"\n\\name: #1"] = render_entry({.devices = "[]"});
  const Result<std::string> file = render_file(configs);
  ASSERT_TRUE(file) << describe(file.error());
  EXPECT_THAT(*file, HasSubstr("version: v1\nmig-configs:\n"));
  EXPECT_THAT(*file, HasSubstr("  all-disabled:\n    - devices: all\n      mig-enabled: false\n"));
  EXPECT_THAT(*file, HasSubstr("  \"on\":\n"));
  const Result<MigConfigs> parsed = parse_file(*file);
  ASSERT_TRUE(parsed) << describe(parsed.error());
  EXPECT_EQ(*parsed, configs);
  EXPECT_EQ(*render_file(*parsed), *file);
}

TEST(AgentConfig, OtherPeoplesFilesAreReadAsTheAgentReadsThem) {
  const Result<MigConfigs> parsed = parse_file(R"(
# NVIDIA's own style
version: v1
mig-configs:
  all-1g.5gb: &small
    - {devices: all, mig-enabled: true, mig-devices: {1g.5gb: 7}}
  "again": *small
  custom-config:
    - device-filter: "0x20B210DE"
      devices: [0,1]
      mig-enabled: yes
      mig-devices:
        "1c.3g.40gb": 2
        '1g.10gb+me': 1
        2g.20gb: 0
    - devices: [2, 3]
      mig-enabled: false
      mig-devices: {}
  all-enabled:
    - devices: all
      mig-enabled: true
      mig-devices: {}
)");
  ASSERT_TRUE(parsed) << describe(parsed.error());
  EXPECT_EQ(parsed->at("all-1g.5gb"),
            "- devices: all\n  mig-enabled: true\n  mig-devices:\n    \"1g.5gb\": 7\n");
  EXPECT_EQ(parsed->at("again"), parsed->at("all-1g.5gb"));
  EXPECT_EQ(parsed->at("custom-config"), R"(- device-filter: ["0x20B210DE"]
  devices: [0, 1]
  mig-enabled: true
  mig-devices:
    "1c.3g.40gb": 2
    "1g.10gb+me": 1
    "2g.20gb": 0
- devices: [2, 3]
  mig-enabled: false
)");
  EXPECT_EQ(parsed->at("all-enabled"), "- devices: all\n  mig-enabled: true\n  mig-devices: {}\n");
}

TEST(AgentConfig, WhatTheAgentWouldRejectIsAnErrorThatSaysWhere) {
  const std::string head = "version: v1\nmig-configs:\n  x:\n";
  const std::vector<std::pair<std::string, const char*>> cases{
      {"", "not a map"},
      {"[]", "not a map"},
      {"mig-configs: {x: [{devices: all, mig-enabled: false}]}", "version is missing"},
      {"version: v2\nmig-configs: {x: [{devices: all, mig-enabled: false}]}", "version is not v1"},
      {"version: v1", "mig-configs is missing or empty"},
      {"version: v1\nmig-configs: {}", "mig-configs is missing or empty"},
      {"version: v1\nmig-configs: [1]", "mig-configs is missing or empty"},
      {"version: v1\nother: 1\nmig-configs: {}", "unknown top-level key \"other\""},
      {"version: v1\nversion: v1\n", "key version is listed twice"},
      {head + "    {}", "config x: is not a list"},
      {head + "    {a: 1}", "config x: is not a list"},
      {head + "    ? [a]\n    : 1", "config x: is not a list"},
      {"version: v1\nmig-configs:\n  ? [a]\n  : 1", "a config's name is not a scalar"},
      {"? [version]\n: v1", "a top-level key is not a scalar"},
      {"version: [v1]\nmig-configs: {x: [{devices: all, mig-enabled: false}]}",
       "version is not v1"},
      {head + "    []", "config x: is not a list"},
      {head + "    - 7", "an entry is not a map"},
      {head + "    - {mig-enabled: false}", "config x: an entry lacks devices"},
      {head + "    - {devices: all}", "an entry lacks mig-enabled"},
      {head + "    - {devices: all, mig-enabled: true}", "lacks mig-devices"},
      {head + "    - {devices: all, mig-enabled: false, mig-devices: {1g.5gb: 1}}",
       "mig-enabled: false has mig-devices"},
      {head + "    - {devices: some, mig-enabled: false}",
       "devices is \"some\"; write all or a list"},
      {head + "    - {devices: {}, mig-enabled: false}", "devices must be all or a list"},
      {head + "    - {devices: [a], mig-enabled: false}", "is \"a\", not a whole number"},
      {head + "    - {devices: ['0'], mig-enabled: false}", "is \"0\", not a whole number"},
      {head + "    - {devices: [-1], mig-enabled: false}", "devices names GPU -1"},
      {head + "    - {devices: all, mig-enabled: maybe}", "neither true nor false"},
      {head + "    - {devices: all, mig-enabled: 'true'}", "neither true nor false"},
      {head + "    - {devices: all, mig-enabled: true, mig-devices: {1g.5gb: -1}}",
       "the count of 1g.5gb is negative"},
      {head + "    - {devices: all, mig-enabled: true, mig-devices: {1g.5gb: 0}}",
       "every count in mig-devices is 0"},
      {head + "    - {devices: all, mig-enabled: true, mig-devices: {1g.5gb: 1.5}}",
       "not a whole number"},
      {head +
           "    - {devices: all, mig-enabled: true, mig-devices: {1g.5gb: 99999999999999999999}}",
       "not a whole number"},
      {head + "    - {devices: all, mig-enabled: true, mig-devices: {1g5gb: 1}}",
       "\"1g5gb\" is not a MIG profile"},
      {head + "    - {devices: all, mig-enabled: true, mig-devices: {c.3g.40gb: 1}}",
       "\"c.3g.40gb\" is not a MIG profile"},
      {head + "    - {devices: all, mig-enabled: true, mig-devices: {123: 1}}",
       "\"123\" is not a MIG profile"},
      {head + "    - {devices: [1234567890123456789], mig-enabled: false}",
       "is \"1234567890123456789\", not a whole number"},
      {head + "    - {devices: all, mig-enabled: true, mig-devices: {1g.5gb: 1, 1g.5gb: 2}}",
       "1g.5gb is listed twice"},
      {head + "    - {devices: all, mig-enabled: true, mig-devices: [1g.5gb]}",
       "mig-devices is not a map"},
      {head + "    - {devices: all, mig-enabled: false, device-filter: 0x20B210DE}",
       "must stand in quotes"},
      {head + "    - {devices: all, mig-enabled: false, nodes: all}", "unknown key \"nodes\""},
      {head + "    - {devices: all, devices: all, mig-enabled: false}",
       "key devices is listed twice"},
      {head + "    - {devices: all, mig-enabled: false}\n  x:\n    - {devices: all, mig-enabled: "
              "false}",
       "config x: is listed twice"},
      {head + "    - [", "not YAML: line"},
      {head + "    - *nowhere", "not YAML: line 4"},
      {std::string(2000, '['), "not YAML"},
      {std::string(5 * 1024 * 1024, ' '), "larger than any ConfigMap"},
  };
  for (const auto& [yaml, message] : cases) {
    const Result<MigConfigs> parsed = parse_file(yaml);
    ASSERT_FALSE(parsed) << yaml.substr(0, 200);
    EXPECT_EQ(parsed.error().kind, ErrorKind::kDecode);
    EXPECT_THAT(parsed.error().message, HasSubstr(message)) << yaml.substr(0, 200);
  }
}

TEST(AgentConfig, NumbersAreReadUpToEighteenDigits) {
  const Result<MigConfigs> parsed = parse_file(
      "version: v1\nmig-configs: {x: [{devices: [123456789012345678], mig-enabled: false}]}");
  ASSERT_TRUE(parsed) << describe(parsed.error());
  EXPECT_THAT(parsed->at("x"), HasSubstr("[123456789012345678]"));
}

TEST(AgentConfig, AnchorsCannotBlowTheFileUp) {
  std::string yaml = "version: v1\nmig-configs:\n  a0: &a\n";
  for (int i = 0; i < 400; ++i) yaml += "    - {devices: all, mig-enabled: false}\n";
  for (int i = 1; i < 1000; ++i) yaml += "  a" + std::to_string(i) + ": *a\n";
  EXPECT_THAT(parse_file(yaml).error().message, HasSubstr("too large"));
}

TEST(AgentConfig, AFileThatNoConfigMapHoldsIsRefused) {
  MigConfigs configs{{"all-disabled", render_entry({.devices = "all"})}};
  EXPECT_TRUE(render_file(configs));
  configs["big"] = std::string(kMaxConfigBytes, 'x');
  EXPECT_THAT(render_file(configs).error().message, HasSubstr("and a ConfigMap holds 1024000"));
  EXPECT_THAT(render_file({}).error().message, HasSubstr("at least one config"));
}

TEST(AgentConfig, AFleetOfLayoutsFits) {
  MigConfigs configs;
  for (int i = 0; i < 100; ++i) {
    const std::string content =
        render_config({{kBalanced, kMedia, {}, kBalanced, {{"1g.10gb", i % 7 + 1}}}});
    add_config(configs, config_name("layout-" + std::to_string(i), content), content);
  }
  EXPECT_EQ(configs.size(), 400u);
  EXPECT_TRUE(render_file(configs));
}

}  // namespace
}  // namespace berth
