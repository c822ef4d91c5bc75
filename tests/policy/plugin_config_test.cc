// SPDX-License-Identifier: Apache-2.0
// Every config that berth renders for the device plugin, checked by NVIDIA's own rules.
#include "controller/policy/plugin_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/policy/plugin_loader.h"

namespace berth {
namespace {

using test::load_plugin_config;
using test::LoadedPluginConfig;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

using Devices = std::map<std::string, int>;
using Data = std::map<std::string, std::string>;

PoolSpec pool(const std::string& name) {
  PoolSpec pool;
  pool.name = name;
  return pool;
}
PoolSpec sliced(const std::string& name, int replicas) {
  PoolSpec slices = pool(name);
  slices.sharing.strategy = SharingStrategy::kTimeSlicing;
  slices.sharing.replicas = replicas;
  return slices;
}
LoadedPluginConfig loaded(const PoolSpec& pool) {
  return load_plugin_config(render_plugin_config(pool).value().text);
}

TEST(PluginConfig, APoolThatSetsNothingHasNone) {
  EXPECT_FALSE(render_plugin_config(pool("training")).has_value());
}

TEST(PluginConfig, TimeSlicingIsRenderedToTheLetter) {
  PoolSpec development = sliced("development", 4);
  development.sharing.rename_by_default = true;
  development.sharing.fail_requests_greater_than_one = true;
  development.mig_strategy = PluginMigStrategy::kMixed;
  const PluginConfig config = render_plugin_config(development).value();
  EXPECT_EQ(config.text, R"(version: v1
flags:
  migStrategy: mixed
sharing:
  timeSlicing:
    renameByDefault: true
    failRequestsGreaterThanOne: true
    resources:
    - name: nvidia.com/gpu
      replicas: 4
)");
  EXPECT_THAT(config.key, ::testing::MatchesRegex("development-[0-9a-f]{8}"));
}

TEST(PluginConfig, NodesAdvertiseWhatThePoolSays) {
  const Devices four{{"nvidia.com/gpu", 4}};
  EXPECT_THAT(loaded(sliced("a", 4)).advertised(four), ElementsAre(Pair("nvidia.com/gpu", 16)));

  PoolSpec renamed = sliced("a", 2);
  renamed.sharing.rename_by_default = true;
  renamed.sharing.resources = {"nvidia.com/mig-1g.10gb", "nvidia.com/gpu"};
  EXPECT_THAT(loaded(renamed).advertised({{"nvidia.com/gpu", 2}, {"nvidia.com/mig-1g.10gb", 14}}),
              ElementsAre(Pair("nvidia.com/gpu.shared", 4),
                          Pair(shared_name("nvidia.com/mig-1g.10gb"), 28)));

  PoolSpec mps = sliced("a", 48);
  mps.sharing.strategy = SharingStrategy::kMPS;
  EXPECT_EQ(loaded(mps).sharing, "mps");
  EXPECT_THAT(loaded(mps).advertised(four), ElementsAre(Pair("nvidia.com/gpu", 192)));

  PoolSpec single = pool("a");
  single.mig_strategy = PluginMigStrategy::kSingle;
  EXPECT_EQ(loaded(single).mig_strategy, "single");
  EXPECT_EQ(loaded(single).sharing, "none");
}

// The plugin starts with every config that the CRD accepts.
TEST(PluginConfig, WhatTheRulesAdmitThePluginLoads) {
  int tried = 0;
  for (const auto strategy : {SharingStrategy::kTimeSlicing, SharingStrategy::kMPS})
    for (const auto mig :
         {PluginMigStrategy::kNone, PluginMigStrategy::kSingle, PluginMigStrategy::kMixed})
      for (const int replicas : {2, 48, 49, 64})
        for (const bool rename : {false, true}) {
          GPUClusterPolicy policy;
          policy.meta.name = limits::kPolicyName;
          PoolSpec one = sliced("a", replicas);
          one.sharing.strategy = strategy;
          one.sharing.rename_by_default = rename;
          one.mig_strategy = mig;
          policy.spec.pools = {one};
          if (!check_rules(policy).empty()) continue;
          ++tried;
          EXPECT_EQ(loaded(one).error, "") << render_plugin_config(one)->text;
          EXPECT_EQ(loaded(one).replicas, (Devices{{"nvidia.com/gpu", replicas}}));
        }
  EXPECT_EQ(tried, 28);  // time-slicing in all cases; MPS without MIG, up to 48
}

TEST(PluginConfig, OtherContentHasAnotherKeyAndEqualContentTheSame) {
  PoolSpec twice = sliced("a", 4);
  twice.sharing.resources = {"nvidia.com/mig-1g.10gb", "nvidia.com/gpu"};
  PoolSpec turned = twice;
  std::swap(turned.sharing.resources[0], turned.sharing.resources[1]);
  EXPECT_EQ(render_plugin_config(twice)->key, render_plugin_config(turned)->key);
  EXPECT_NE(render_plugin_config(sliced("a", 4))->key, render_plugin_config(sliced("a", 5))->key);
}

TEST(PluginConfig, TheMapHoldsTheDefaultAlways) {
  const Data data = plugin_configs({}, {}, {});
  ASSERT_THAT(data, ElementsAre(Key("default")));
  const LoadedPluginConfig config = load_plugin_config(data.at("default"));
  EXPECT_EQ(config.error, "");
  EXPECT_EQ(config.sharing, "none");
}

TEST(PluginConfig, SomebodyElsesDefaultStays) {
  const std::string theirs = "version: v1\nflags: {failOnInitError: false}\n";
  EXPECT_EQ(plugin_configs({sliced("a", 4)}, {{"default", theirs}}, {}).at("default"), theirs);
  EXPECT_FALSE(mentions_sharing(theirs));
  EXPECT_FALSE(mentions_sharing(plugin_configs({}, {}, {}).at("default")));
  EXPECT_TRUE(mentions_sharing(render_plugin_config(sliced("a", 4))->text));
}

TEST(PluginConfig, AKeyStaysUntilNoNodeNamesIt) {
  const PluginConfig before = render_plugin_config(sliced("a", 4)).value();
  const PluginConfig after = render_plugin_config(sliced("a", 8)).value();
  const Data standing{{before.key, before.text}, {"b-0123abcd", "version: v1\n"}, {"mine", "x"}};
  EXPECT_THAT(plugin_configs({sliced("a", 8)}, standing, {before.key, "mine"}),
              UnorderedElementsAre(Key("default"), Pair(after.key, after.text),
                                   Pair(before.key, before.text)));
  EXPECT_THAT(plugin_configs({sliced("a", 8)}, standing, {}),
              UnorderedElementsAre(Key("default"), Pair(after.key, after.text)));
}

// The checker itself: what NVIDIA's loader refuses.
TEST(PluginLoader, RefusesWhatThePluginRefuses) {
  const auto error = [](const std::string& text) { return load_plugin_config(text).error; };
  EXPECT_EQ(error("version: v2"), "unknown version");
  EXPECT_EQ(error("flags: {migStrategy: all}"), "unknown migStrategy");
  EXPECT_EQ(error("sharing: {timeSlicing: {}}"), "resources are required");
  EXPECT_EQ(error("sharing: {timeSlicing: {resources: [{name: gpu, replicas: 1}]}}"),
            "replicas must be at least 2");
  EXPECT_EQ(error("sharing: {timeSlicing: {resources: [{replicas: 4}]}}"),
            "name and replicas are required");
  EXPECT_EQ(
      error("flags: {migStrategy: mixed}\nsharing: {mps: {resources: [{name: gpu, replicas: 4}]}}"),
      "MPS with migStrategy mixed");
  EXPECT_EQ(error("sharing: {mps: {resources: [{name: mig-1g.10gb, replicas: 4}]}}"),
            "MPS shares whole GPUs only");
  EXPECT_EQ(error("sharing: {mps: {resources: [{name: gpu, replicas: 49}]}}"),
            "MPS has 48 clients at most");
  EXPECT_NE(error("sharing: {timeSlicing: {resources: [{name: gpu, replicas: four}]}}"), "");
  EXPECT_THAT(error("shering: {}\nsharing: {timeSlicing: {resources: [{name: gpu, replicas: 4}]}}"),
              IsEmpty());
}

}  // namespace
}  // namespace berth
