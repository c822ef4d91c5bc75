// SPDX-License-Identifier: Apache-2.0
#include "controller/fleet/node_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "controller/fleet/allocatable.h"

namespace berth {
namespace {

using ::testing::HasSubstr;
using Gpus = std::vector<std::int32_t>;

const Product& product_named(std::string_view model) {
  const Product* found = find_product_by_model(model);
  EXPECT_NE(found, nullptr) << model;
  return *found;
}

const ProfileCounts kBalanced{{"3g.40gb", 1}, {"2g.20gb", 1}, {"1g.10gb", 2}};
const ProfileCounts kSmall{{"1g.10gb", 7}};

TEST(ResolveLayout, GivesEveryGpuItsEntry) {
  const auto layout = resolve_layout({{Gpus{0, 1}, kBalanced}, {std::nullopt, kSmall}},
                                     product_named("A100-80GB"), 4);
  ASSERT_TRUE(layout) << describe(layout.error());
  EXPECT_EQ(layout->per_gpu, (std::vector<ProfileCounts>{kBalanced, kBalanced, kSmall, kSmall}));
  EXPECT_EQ(format(*layout),
            "GPUs 0-1: 3g.40gb ×1 + 2g.20gb ×1 + 1g.10gb ×2; GPUs 2-3: 1g.10gb ×7");
}

TEST(ResolveLayout, TheEntryWithoutGpusMayStandFirstAndMayFindNothingLeft) {
  const auto layout =
      resolve_layout({{std::nullopt, kSmall}, {Gpus{1, 0}, {}}}, product_named("A100-80GB"), 2);
  ASSERT_TRUE(layout) << describe(layout.error());
  EXPECT_EQ(format(*layout), "GPUs 0-1: MIG off");
}

TEST(ResolveLayout, ZeroCountsAreDropped) {
  const auto layout = resolve_layout({{std::nullopt, {{"1g.10gb", 7}, {"3g.40gb", 0}}}},
                                     product_named("A100-80GB"), 1);
  ASSERT_TRUE(layout) << describe(layout.error());
  EXPECT_EQ(layout->per_gpu.front(), kSmall);
}

TEST(ResolveLayout, RefusalsNameTheFieldAndTheWayOut) {
  struct Case {
    const char* name;
    std::vector<DeviceLayout> devices;
    int gpus;
    const char* where;
    const char* message;
  };
  const std::vector<Case> cases{
      {"nothing written", {}, 4, "spec.devices", "has no entry, so it covers no GPU"},
      {"another product's profile",
       {{std::nullopt, {{"3g.20gb", 1}}}},
       4,
       "spec.devices[0].profiles",
       "A100-80GB has no profile \"3g.20gb\" (did you mean 3g.40gb?); its profiles are 7g.80gb, "
       "4g.40gb, "
       "3g.40gb, 2g.20gb, 1g.20gb, 1g.10gb, 1g.10gb+me"},
      {"nothing like a profile",
       {{std::nullopt, {{"potato-potato", 1}}}},
       4,
       "spec.devices[0].profiles",
       "A100-80GB has no profile \"potato-potato\"; its profiles are 7g.80gb, "},
      {"a resource name",
       {{std::nullopt, {{"1g.10gb.me", 1}}}},
       4,
       "spec.devices[0].profiles",
       "no profile \"1g.10gb.me\" (did you mean 1g.10gb+me?)"},
      {"unicode, cut between characters",
       {{std::nullopt, {{"ééééééééééééééééééééééééééééééééééé", 1}}}},
       4,
       "spec.devices[0].profiles",
       "no profile \"éééééééééééééééééééé…\"; its"},
      {"too much",
       {{Gpus{0}, kSmall}, {std::nullopt, {{"3g.40gb", 2}, {"1g.10gb", 1}}}},
       4,
       "spec.devices[1].profiles",
       "3g.40gb ×2 + 1g.10gb ×1 needs 9 of 8 memory units on A100-80GB; the nearest that fit: "
       "3g.40gb ×2 | 3g.40gb ×1 + 2g.20gb ×1 + 1g.10gb ×1 | 3g.40gb ×1 + 1g.20gb ×1 + 1g.10gb ×1"},
      {"right sum, no placement",
       {{std::nullopt, {{"4g.40gb", 1}, {"2g.20gb", 2}}}},
       4,
       "spec.devices[0].profiles",
       "4g.40gb ×1 + 2g.20gb ×2 needs 8 of 8 memory units but can't be placed without overlap "
       "(4g.40gb starts at 0; "
       "2g.20gb starts at 0, 2, 4) on A100-80GB; the nearest that fit: 4g.40gb ×1 + 2g.20gb ×1 + "
       "1g.20gb ×1 | "
       "3g.40gb ×1 + 2g.20gb ×2 | 4g.40gb ×1 + 2g.20gb ×1 + 1g.10gb ×1"},
      {"a huge count",
       {{std::nullopt, {{"1g.10gb", std::numeric_limits<std::int64_t>::max()}}}},
       4,
       "spec.devices[0].profiles",
       "1g.10gb ×9223372036854775807 asks for more of 1g.10gb than the 7 that a GPU can hold"},
      {"a negative count",
       {{std::nullopt, {{"1g.10gb", -1}}}},
       4,
       "spec.devices[0].profiles",
       "1g.10gb: -1 is not a number of instances; write 1 to 7"},
      {"only zeros",
       {{std::nullopt, {{"1g.10gb", 0}}}},
       4,
       "spec.devices[0].profiles",
       "every count is 0; write profiles: {} to turn MIG off"},
      {"index past the end",
       {{Gpus{0, 4}, kSmall}, {std::nullopt, {}}},
       4,
       "spec.devices[0].gpus",
       "GPU 4 is not there: the node has 4 GPUs, 0 to 3"},
      {"negative index",
       {{Gpus{-1}, kSmall}, {std::nullopt, {}}},
       1,
       "spec.devices[0].gpus",
       "GPU -1 is not there: the node has one GPU, index 0"},
      {"twice in one entry",
       {{Gpus{1, 1}, kSmall}},
       4,
       "spec.devices[0].gpus",
       "names GPU 1 twice"},
      {"in two entries",
       {{Gpus{0, 1}, kSmall}, {Gpus{1, 2, 3}, {}}},
       4,
       "spec.devices[1].gpus",
       "GPU 1 is already in spec.devices[0].gpus"},
      {"two entries for the rest",
       {{std::nullopt, kSmall}, {std::nullopt, {}}},
       4,
       "spec.devices[1].gpus",
       "missing, and spec.devices[0] already takes every GPU no entry names"},
      {"an empty list",
       {{Gpus{}, kSmall}},
       4,
       "spec.devices[0].gpus",
       "names no GPU; leave the field out"},
      {"one left out",
       {{Gpus{0, 1, 2}, kSmall}},
       4,
       "spec.devices",
       "GPU 3 of the node's 4 is in no entry; add one without gpus (profiles: {} leaves MIG off)"},
      {"two left out",
       {{Gpus{0, 3}, kSmall}},
       4,
       "spec.devices",
       "GPUs 1, 2 of the node's 4 are in no entry"},
      {"a node without GPUs",
       {{std::nullopt, kSmall}},
       0,
       "spec.devices",
       "on a node with 0 GPUs; 1 to 16"},
      {"a node with too many",
       {{std::nullopt, kSmall}},
       2'000'000'000,
       "spec.devices",
       "2000000000 GPUs"},
  };
  for (const Case& c : cases) {
    const auto layout = resolve_layout(c.devices, product_named("A100-80GB"), c.gpus);
    ASSERT_FALSE(layout) << c.name;
    EXPECT_EQ(layout.error().kind, ErrorKind::kInvalidSpec) << c.name;
    EXPECT_EQ(layout.error().where, c.where) << c.name;
    EXPECT_THAT(layout.error().message, HasSubstr(c.message)) << c.name;
  }
}

TEST(ResolveLayout, TwoNamesOfOneProfileAreRefused) {
  const std::vector<DeviceLayout> both{{std::nullopt, {{"3g.93gb", 1}, {"3g.95gb", 1}}}};
  EXPECT_THAT(resolve_layout(both, product_named("GB200"), 4).error().message,
              HasSubstr("3g.93gb and 3g.95gb are two drivers' names for one profile"));
  const std::vector<DeviceLayout> older{{std::nullopt, {{"3g.95gb", 2}}}};
  EXPECT_EQ(format(resolve_layout(older, product_named("GB200"), 1)->per_gpu[0]), "3g.95gb ×2");
}

TEST(Format, IsLargestFirst) {
  EXPECT_EQ(format(ProfileCounts{}), "MIG off");
  EXPECT_EQ(
      format(ProfileCounts{{"1g.10gb", 1}, {"1g.10gb+me", 1}, {"1g.20gb", 1}, {"2g.20gb", 2}}),
      "2g.20gb ×2 + 1g.20gb ×1 + 1g.10gb ×1 + 1g.10gb+me ×1");
  EXPECT_EQ(format(ProfileCounts{{"1g.141gb", 1}, {"1g.71gb", 1}}), "1g.141gb ×1 + 1g.71gb ×1");
}

TEST(Strategy, TellsWhatTheDevicePluginCanShow) {
  const NodeLayout off{{{}, {}}}, uniform{{kSmall, kSmall}},
      counts_differ{{kSmall, {{"1g.10gb", 5}}}}, half_off{{kSmall, {}}}, off_first{{{}, kSmall}},
      two_profiles{{kBalanced, kBalanced}}, profiles_differ{{kSmall, {{"3g.40gb", 2}}}};
  for (const NodeLayout& layout :
       {off, uniform, counts_differ, half_off, off_first, two_profiles, profiles_differ})
    EXPECT_TRUE(check_strategy(layout, MigStrategy::kMixed)) << format(layout);
  for (const NodeLayout& layout : {off, uniform, counts_differ})
    EXPECT_TRUE(check_strategy(layout, MigStrategy::kSingle)) << format(layout);
  for (const NodeLayout& layout : {half_off, off_first, two_profiles, profiles_differ}) {
    const Result<void> refused = check_strategy(layout, MigStrategy::kSingle);
    ASSERT_FALSE(refused) << format(layout);
    EXPECT_EQ(refused.error().where, "spec.devices");
    EXPECT_THAT(refused.error().message, HasSubstr(format(layout)));
    EXPECT_THAT(refused.error().message, HasSubstr("set the strategy to mixed"));
  }
  EXPECT_TRUE(check_strategy(off, MigStrategy::kNone));
  EXPECT_THAT(check_strategy(uniform, MigStrategy::kNone).error().message,
              HasSubstr("the node's MIG strategy is none"));
}

TEST(Strategy, IsParsed) {
  EXPECT_EQ(parse_mig_strategy("single"), MigStrategy::kSingle);
  EXPECT_EQ(parse_mig_strategy("mixed"), MigStrategy::kMixed);
  EXPECT_EQ(parse_mig_strategy("none"), MigStrategy::kNone);
  EXPECT_EQ(parse_mig_strategy("Mixed"), std::nullopt);
  EXPECT_EQ(parse_mig_strategy(""), std::nullopt);
}

using Resources = std::map<std::string, std::int64_t>;

TEST(Allocatable, FollowsStrategyAndSharing) {
  const NodeLayout mixed{{kBalanced, kSmall, {}}}, uniform{{kSmall, kSmall}}, off{{{}, {}, {}}};
  const Sharing gpu_x4{{"nvidia.com/gpu", {4, false}}};
  const Sharing renamed{{"nvidia.com/gpu", {4, true}}, {"nvidia.com/mig-1g.10gb", {2, true}}};
  EXPECT_EQ(expected_allocatable(mixed, MigStrategy::kMixed, {}),
            (Resources{{"nvidia.com/gpu", 1},
                       {"nvidia.com/mig-3g.40gb", 1},
                       {"nvidia.com/mig-2g.20gb", 1},
                       {"nvidia.com/mig-1g.10gb", 9}}));
  EXPECT_EQ(expected_allocatable(mixed, MigStrategy::kMixed, renamed),
            (Resources{{"nvidia.com/gpu.shared", 4},
                       {"nvidia.com/mig-3g.40gb", 1},
                       {"nvidia.com/mig-2g.20gb", 1},
                       {"nvidia.com/mig-1g.10gb.shared", 18}}));
  EXPECT_EQ(expected_allocatable(uniform, MigStrategy::kSingle, {}),
            (Resources{{"nvidia.com/gpu", 14}}));
  EXPECT_EQ(expected_allocatable(uniform, MigStrategy::kSingle, gpu_x4),
            (Resources{{"nvidia.com/gpu", 56}}));
  EXPECT_EQ(expected_allocatable(off, MigStrategy::kSingle, {}),
            (Resources{{"nvidia.com/gpu", 3}}));
  EXPECT_EQ(expected_allocatable(off, MigStrategy::kNone, gpu_x4),
            (Resources{{"nvidia.com/gpu", 12}}));
  EXPECT_EQ(expected_allocatable(mixed, MigStrategy::kSingle, {}), Resources{})
      << "the plugin would not start";
}

TEST(Allocatable, ResourceNamesArePartOfNvidiasContract) {
  EXPECT_EQ(mig_resource_name("1g.10gb"), "nvidia.com/mig-1g.10gb");
  EXPECT_EQ(mig_resource_name("1g.10gb+me"), "nvidia.com/mig-1g.10gb.me");
  EXPECT_EQ(mig_resource_name("1g.24gb+me.all"), "nvidia.com/mig-1g.24gb.me.all");
  EXPECT_EQ(mig_resource_name("1g.24gb-me"), "nvidia.com/mig-1g.24gb-me");
}

TEST(Allocatable, SharingIsReadFromLabels) {
  EXPECT_EQ(read_sharing({{"nvidia.com/gpu.product", "NVIDIA-A30"},
                          {"nvidia.com/gpu.replicas", "1"},
                          {"nvidia.com/gpu.sharing-strategy", "none"}}),
            Sharing{});
  EXPECT_EQ(read_sharing({{"nvidia.com/gpu.product", "NVIDIA-A30-SHARED"},
                          {"nvidia.com/gpu.replicas", "4"},
                          {"nvidia.com/gpu.sharing-strategy", "time-slicing"}}),
            (Sharing{{"nvidia.com/gpu", {4, false}}}));
  EXPECT_EQ(read_sharing({{"nvidia.com/gpu.product", "NVIDIA-A30"},
                          {"nvidia.com/gpu.replicas", "0"},
                          {"nvidia.com/gpu.sharing-strategy", "none"},
                          {"nvidia.com/mig-1g.6gb.product", "NVIDIA-A30-MIG-1g.6gb"},
                          {"nvidia.com/mig-1g.6gb.replicas", "3"},
                          {"nvidia.com/mig-1g.6gb.sharing-strategy", "time-slicing"}}),
            (Sharing{{"nvidia.com/mig-1g.6gb", {3, true}}}));
  for (const char* nonsense :
       {"", "-4", "four", "4x", "99999999999999999999", "9000000000000000000"})
    EXPECT_EQ(read_sharing({{"nvidia.com/gpu.product", "P-SHARED"},
                            {"nvidia.com/gpu.replicas", nonsense},
                            {"nvidia.com/gpu.sharing-strategy", "time-slicing"}}),
              Sharing{})
        << nonsense;
}

TEST(Allocatable, MismatchNamesEachDifference) {
  const Resources expected{{"nvidia.com/mig-1g.10gb", 7}, {"nvidia.com/mig-3g.40gb", 2}};
  const ResourceList right{{"cpu", Quantity::whole(64)},
                           {"nvidia.com/gpu", Quantity::whole(0)},
                           {"nvidia.com/mig-1g.10gb", Quantity::whole(7)},
                           {"nvidia.com/mig-3g.40gb", Quantity::whole(2)}};
  EXPECT_EQ(allocatable_mismatch(expected, right), std::nullopt);
  const ResourceList wrong{{"nvidia.com/gpu", Quantity::whole(4)},
                           {"nvidia.com/mig-1g.10gb", Quantity::whole(6)},
                           {"nvidia.com/mig-2g.20gb", Quantity::whole(1)}};
  EXPECT_EQ(allocatable_mismatch(expected, wrong),
            "nvidia.com/gpu is 4, expected 0; nvidia.com/mig-1g.10gb is 6, expected 7; "
            "nvidia.com/mig-2g.20gb is 1, "
            "expected 0; nvidia.com/mig-3g.40gb is 0, expected 2");
  EXPECT_EQ(allocatable_mismatch({}, {}), std::nullopt);
  EXPECT_EQ(allocatable_mismatch({{"nvidia.com/gpu", 0}}, {}), std::nullopt)
      << "missing and 0 are the same";
  EXPECT_EQ(allocatable_mismatch({}, {{"nvidia.com/gpu.shared", Quantity::whole(4)}}),
            "nvidia.com/gpu.shared is 4, expected 0");
}

}  // namespace
}  // namespace berth
