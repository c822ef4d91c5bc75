// SPDX-License-Identifier: Apache-2.0
// Checks of a layout without a cluster: how many GPUs it means, and which models it fits.
#include "controller/mig/layout_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/mig/layout_list.h"

namespace berth {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

DeviceLayout on(std::optional<std::vector<std::int32_t>> gpus, ProfileCounts profiles) {
  return {std::move(gpus), std::move(profiles)};
}

TEST(LayoutCheck, ALayoutMeansTheGpusItNamesAndOneMoreForTheOthers) {
  const ProfileCounts any{{"1g.10gb", 7}};
  EXPECT_EQ(gpus_meant({}), 0);
  EXPECT_EQ(gpus_meant({on(std::nullopt, any)}), 1);
  EXPECT_EQ(gpus_meant({on({{0}}, any)}), 1);
  EXPECT_EQ(gpus_meant({on({{3, 1}}, any)}), 4);
  EXPECT_EQ(gpus_meant({on(std::nullopt, any), on({{3, 1}}, any), on({{0}}, any)}), 5);
}

TEST(LayoutCheck, ItFitsTheModelsThatHaveItsProfiles) {
  const auto fits = [](const char* profile, std::int64_t count) {
    return models_that_fit({on(std::nullopt, {{profile, count}})}, 8);
  };
  EXPECT_THAT(fits("1g.10gb", 7), Contains(HasSubstr("A100")));
  EXPECT_THAT(fits("1g.10gb", 7), Not(Contains(HasSubstr("A30"))));
  EXPECT_THAT(fits("1g.6gb", 4), Contains(HasSubstr("A30")));
  EXPECT_THAT(fits("1g.10gb", 99), IsEmpty());
}

TEST(LayoutList, OfAModelShowsWhatItIsCalledItsProfilesAndWhatFits) {
  const std::string list = *list_layouts("A30");
  EXPECT_THAT(list, testing::StartsWith("A30: 4 memory units, 4 compute slices\n"
                                        "nvidia.com/gpu.product: "));
  EXPECT_THAT(list, HasSubstr("\n\n  PROFILE         RESOURCE (STRATEGY MIXED)       MAX  SLICES  "
                              "UNITS   STARTS\n"));
  EXPECT_THAT(list, HasSubstr("\nA GPU holds any of these, or a part of one:\n  "));
  EXPECT_THAT(list, HasSubstr("  1g.6gb          nvidia.com/mig-1g.6gb             4 "));
}

TEST(LayoutList, AModelIsFoundByItsNameItsLabelOrItsDeviceId) {
  const std::string a30 = *list_layouts("A30");
  EXPECT_EQ(*list_layouts("NVIDIA-A30"), a30);
  EXPECT_EQ(*list_layouts("0x20B7"), a30);
  EXPECT_EQ(*list_layouts("0X20b7"), a30);
  for (const char* unknown : {"0x20B7z", "0x", "0xFFFFFF", "20B7", "0x0001", "K80"})
    EXPECT_FALSE(list_layouts(unknown).has_value()) << unknown;
}

TEST(LayoutList, AllModelsAreListedWithTheirProfiles) {
  const std::string list = list_products();
  EXPECT_THAT(list, testing::StartsWith("A30           4g.24gb, 2g.12gb, 2g.12gb+me, 1g.6gb, "
                                        "1g.6gb+me\n              NVIDIA-A30"));
}

}  // namespace
}  // namespace berth
