// SPDX-License-Identifier: Apache-2.0
// The simulated GPUs are an independent reading of NVIDIA's tables. Where they differ from berth's
// table, one of the two is wrong.
#include "controller/sim/nvidia/mig_hardware.h"

#include <gtest/gtest.h>

#include "controller/fleet/geometry.h"

namespace berth::sim {
namespace {

TEST(MigHardware, EveryProductThatBerthKnowsIsCutTheSameWay) {
  for (const berth::Product& ours : berth::all_products()) {
    if (ours.model == "GH200-144GB") continue;  // shares two labels with the one of 96 GB
    for (const std::string& label : ours.labels) {
      const Product& theirs = product_of(label);
      EXPECT_EQ(theirs.units, ours.memory_units) << label;
      EXPECT_EQ(theirs.family, ours.family) << label;
      EXPECT_EQ(theirs.profiles.size(), ours.profiles.size()) << label;
      for (const Profile& profile : theirs.profiles) {
        const berth::Profile* same = ours.find_profile(profile.name);
        ASSERT_NE(same, nullptr) << label << " " << profile.name;
        EXPECT_EQ(profile.size, same->memory_units) << label << " " << profile.name;
        EXPECT_EQ(profile.starts, same->starts) << label << " " << profile.name;
        EXPECT_EQ(profile.max, same->max_count) << label << " " << profile.name;
        EXPECT_EQ(profile.slices, same->compute_slices) << label << " " << profile.name;
      }
      const berth::Product* found = berth::find_product(label, theirs.memory_mib);
      ASSERT_NE(found, nullptr) << label;
      EXPECT_EQ(found->model, ours.model) << label;
    }
  }
}

TEST(MigHardware, EnginesRunShort) {
  const Product& rtx = product_of("NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition");
  EXPECT_EQ(why_not_placeable(rtx, {{"1g.24gb", 4}}), "");
  EXPECT_EQ(why_not_placeable(rtx, {{"2g.48gb+me.all", 1}, {"1g.24gb-me", 2}}), "");
  EXPECT_NE(why_not_placeable(rtx, {{"2g.48gb+me.all", 1}, {"1g.24gb", 2}}), "");
  const Product& a30 = product_of("NVIDIA-A30");
  EXPECT_NE(why_not_placeable(a30, {{"1g.6gb+me", 1}, {"2g.12gb+me", 1}}), "");
}

TEST(MigHardware, AProductWithoutATableIsRefused) {
  EXPECT_THROW(product_of("NVIDIA-T4"), std::runtime_error);
}

}  // namespace
}  // namespace berth::sim
