// SPDX-License-Identifier: Apache-2.0
// The alternatives for an idle MIG instance are right on every GPU that holds one.
#include "controller/fleet/recut.h"

#include <gmock/gmock.h>

#include "controller/fleet/placement.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

std::vector<std::pair<std::string, int>> cuts_of(const char* model, const char* profile) {
  const Product& product = *find_product_by_model(model);
  std::vector<std::pair<std::string, int>> found;
  for (const Recut& cut : recuts_of(product, *product.find_profile(profile)))
    found.emplace_back(cut.profile->name, cut.count);
  return found;
}

TEST(Recut, SaysWhatFitsWhereTheInstanceIs) {
  using testing::ElementsAre;
  using testing::Pair;
  EXPECT_THAT(cuts_of("A100-80GB", "3g.40gb"),
              ElementsAre(Pair("2g.20gb", 1), Pair("1g.20gb", 2), Pair("1g.10gb", 3)));
  EXPECT_THAT(cuts_of("A100-80GB", "1g.10gb"), testing::IsEmpty());
  EXPECT_THAT(cuts_of("A30", "4g.24gb"), ElementsAre(Pair("2g.12gb", 2), Pair("1g.6gb", 4)));
}

// A request for an engine or for graphics uses the profile's other name, which no other workload
// uses.
TEST(Recut, NamesPlainProfilesThatAreSmallerAlone) {
  for (const Product& product : all_products())
    for (const Profile& instance : product.profiles)
      for (const Recut& cut : recuts_of(product, instance)) {
        EXPECT_EQ(cut.profile->attributes, "") << product.model << ": " << instance.name;
        EXPECT_TRUE(cut.profile->compute_slices < instance.compute_slices ||
                    cut.profile->memory_units < instance.memory_units)
            << product.model << ": " << instance.name << " as " << cut.profile->name;
        EXPECT_GT(cut.count, 0);
      }
}

TEST(Recut, HoldsWhateverStandsBesideIt) {
  int checked = 0;
  for (const Product& product : all_products())
    for (const ProfileCounts& layout : valid_layouts(product))
      for (const auto& [name, count] : layout) {
        const Profile& instance = *product.find_profile(name);
        for (const Recut& cut : recuts_of(product, instance)) {
          ProfileCounts changed = layout;
          --changed[name];
          const int room = cut.profile->max_count - changed[cut.profile->name];
          changed[cut.profile->name] += std::min(cut.count, room);
          EXPECT_TRUE(place(product, changed))
              << product.model << ": a " << name << " as " << cut.count << " " << cut.profile->name;
          ++checked;
        }
      }
  EXPECT_GT(checked, 1000);
}

TEST(Recut, IsToldOfWhatThePodHolds) {
  const Node a100 = node("n1").a100_80(4);
  EXPECT_EQ(describe_recuts(a100, pod("p").requests("nvidia.com/mig-2g.20gb", 1)),
            "an instance of nvidia.com/mig-2g.20gb could be 1 of nvidia.com/mig-1g.20gb or 2 of "
            "nvidia.com/mig-1g.10gb");
  EXPECT_EQ(describe_recuts(a100, pod("p").gpu(1)), "");
  EXPECT_EQ(describe_recuts(node("cpu"), pod("p").requests("nvidia.com/mig-2g.20gb", 1)), "");
}

}  // namespace
}  // namespace berth::test
