// SPDX-License-Identifier: Apache-2.0
// Packing of instances onto GPUs: each instance is placed, and hardly ever does it need one more
// GPU than the minimum.
#include "controller/advise/packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "controller/fleet/placement.h"

namespace berth::advise {
namespace {

const Product& a100() { return *find_product_by_model("A100-80GB"); }

// The minimum number of GPUs, found by trying every layout for the first of them.
class Least {
 public:
  std::size_t of(const ProfileCounts& wanted) {
    if (wanted.empty()) return 0;
    if (const auto found = known_.find(wanted); found != known_.end()) return found->second;
    std::size_t least = 1000;
    for (const ProfileCounts& layout : layouts_) {
      ProfileCounts rest = wanted;
      for (const auto& [name, count] : layout)
        if (const auto found = rest.find(name); found != rest.end())
          if ((found->second -= std::min(count, found->second)) == 0) rest.erase(found);
      if (rest != wanted) least = std::min(least, 1 + of(rest));
    }
    return known_[wanted] = least;
  }

 private:
  std::vector<ProfileCounts> layouts_ = valid_layouts(a100());
  std::map<ProfileCounts, std::size_t> known_;
};

TEST(Packing, GivesEveryInstanceAPlaceOnGpusThatCanHoldThem) {
  const ProfileCounts wanted{{"3g.40gb", 5}, {"2g.20gb", 4}, {"1g.10gb", 11}};
  ProfileCounts given;
  for (const ProfileCounts& gpu : pack_instances(a100(), wanted)) {
    EXPECT_TRUE(place(a100(), gpu));
    for (const auto& [name, count] : gpu) given[name] += count;
  }
  for (const auto& [name, count] : wanted) EXPECT_GE(given[name], count) << name;
}

TEST(Packing, TakesTheLeastGpusInAllButFewOfAllSmallCases) {
  Least least;
  int cases = 0;
  int one_more = 0;
  for (std::int64_t threes = 0; threes <= 3; ++threes)
    for (std::int64_t twos = 0; twos <= 4; ++twos)
      for (std::int64_t ones = 0; ones <= 6; ++ones) {
        ProfileCounts wanted{{"3g.40gb", threes}, {"2g.20gb", twos}, {"1g.10gb", ones}};
        std::erase_if(wanted, [](const auto& entry) { return entry.second == 0; });
        const std::size_t took = pack_instances(a100(), wanted).size();
        ASSERT_LE(took, least.of(wanted) + 1) << threes << " " << twos << " " << ones;
        ++cases;
        one_more += took > least.of(wanted) ? 1 : 0;
      }
  EXPECT_LE(one_more * 20, cases) << one_more << " of " << cases;
}

// It also adds no GPU for satisfied profiles while another is still wanted.
TEST(Packing, TakesNoGpuForWhatHasItsPlace) {
  EXPECT_EQ(pack_instances(a100(), {{"7g.80gb", 1}, {"3g.40gb", 2}, {"1g.10gb", 0}}),
            (std::vector<ProfileCounts>{{{"7g.80gb", 1}}, {{"3g.40gb", 2}}}));
}

TEST(Packing, WhatNobodyCanCutIsNotPacked) {
  EXPECT_TRUE(pack_instances(a100(), {{"9g.90gb", 2}}).empty());
  EXPECT_TRUE(pack_instances(a100(), {{"1g.10gb", 0}}).empty());
  EXPECT_TRUE(pack_instances(a100(), {}).empty());
  EXPECT_TRUE(pack_instances(Product(), {{"1g.10gb", 1}}).empty()) << "nor cut at all";
}

}  // namespace
}  // namespace berth::advise
