// SPDX-License-Identifier: Apache-2.0
// The tables compared with NVIDIA's published ones, and the search compared with a reference that
// walks the memory units one by one.
#include "controller/fleet/geometry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <map>
#include <set>

#include "controller/fleet/node_layout.h"
#include "controller/fleet/placement.h"
#include "controller/mig/layout_list.h"

namespace berth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

const Product& product(std::string_view model) {
  const Product* found = find_product_by_model(model);
  EXPECT_NE(found, nullptr) << model;
  return *found;
}

std::vector<std::string> names(const Product& p) {
  std::vector<std::string> out;
  for (const Profile& profile : p.profiles) out.push_back(profile.name);
  return out;
}

TEST(Geometry, EveryProductHasNvidiasProfileNames) {
  const std::map<std::string, std::vector<std::string>> published{
      {"A30", {"4g.24gb", "2g.12gb", "2g.12gb+me", "1g.6gb", "1g.6gb+me"}},
      {"A100-40GB", {"7g.40gb", "4g.20gb", "3g.20gb", "2g.10gb", "1g.10gb", "1g.5gb", "1g.5gb+me"}},
      {"A100-80GB",
       {"7g.80gb", "4g.40gb", "3g.40gb", "2g.20gb", "1g.20gb", "1g.10gb", "1g.10gb+me"}},
      {"H100-80GB",
       {"7g.80gb", "4g.40gb", "3g.40gb", "2g.20gb", "1g.20gb", "1g.10gb", "1g.10gb+me"}},
      {"H100-94GB",
       {"7g.94gb", "4g.47gb", "3g.47gb", "2g.24gb", "1g.24gb", "1g.12gb", "1g.12gb+me"}},
      {"H100-96GB",
       {"7g.96gb", "4g.48gb", "3g.48gb", "2g.24gb", "1g.24gb", "1g.12gb", "1g.12gb+me"}},
      {"H20", {"7g.96gb", "4g.48gb", "3g.48gb", "2g.24gb", "1g.24gb", "1g.12gb", "1g.12gb+me"}},
      {"GH200-96GB",
       {"7g.96gb", "4g.48gb", "3g.48gb", "2g.24gb", "1g.24gb", "1g.12gb", "1g.12gb+me"}},
      {"GH200-144GB",
       {"7g.144gb", "4g.72gb", "3g.72gb", "2g.36gb", "1g.36gb", "1g.18gb", "1g.18gb+me"}},
      {"H200", {"7g.141gb", "4g.71gb", "3g.71gb", "2g.35gb", "1g.35gb", "1g.18gb", "1g.18gb+me"}},
      {"B200", {"7g.180gb", "4g.90gb", "3g.90gb", "2g.45gb", "1g.45gb", "1g.23gb", "1g.23gb+me"}},
      {"GB200", {"7g.186gb", "4g.93gb", "3g.93gb", "2g.47gb", "1g.47gb", "1g.23gb", "1g.23gb+me"}},
      {"B300", {"7g.269gb", "4g.135gb", "3g.135gb", "2g.67gb", "1g.67gb", "1g.34gb", "1g.34gb+me"}},
      {"GB300",
       {"7g.278gb", "4g.139gb", "3g.139gb", "2g.70gb", "1g.70gb", "1g.35gb", "1g.35gb+me"}},
      {"RTX-PRO-6000",
       {"4g.96gb", "4g.96gb+gfx", "2g.48gb", "2g.48gb+gfx", "2g.48gb+me.all", "2g.48gb-me",
        "1g.24gb", "1g.24gb+gfx", "1g.24gb+me", "1g.24gb+me.all", "1g.24gb-me"}},
  };
  EXPECT_EQ(all_products().size(), published.size());
  for (const auto& [model, profiles] : published)
    EXPECT_EQ(names(product(model)), profiles) << model;
}

TEST(Geometry, LabelsResolve) {
  const std::vector<std::pair<const char*, const char*>> cases{
      {"NVIDIA-A30", "A30"},
      {"NVIDIA-A30-PCIE-24GB", "A30"},
      {"NVIDIA-A100-SXM4-40GB", "A100-40GB"},
      {"A100-SXM4-40GB", "A100-40GB"},
      {"NVIDIA-A100-PCIE-40GB", "A100-40GB"},
      {"NVIDIA-A800-SXM4-40GB", "A100-40GB"},
      {"NVIDIA-A100-SXM4-80GB", "A100-80GB"},
      {"NVIDIA-A100-80GB-PCIe", "A100-80GB"},
      {"NVIDIA-A100-PCIE-80GB", "A100-80GB"},
      {"NVIDIA-A800-SXM4-80GB", "A100-80GB"},
      {"NVIDIA-H100-80GB-HBM3", "H100-80GB"},
      {"NVIDIA-H100-80GB-HBM3-MIG-1g.10gb", "H100-80GB"},
      {"NVIDIA-H100-80GB-HBM3-MIG-1g.10gb-SHARED", "H100-80GB"},
      {"NVIDIA-H100-80GB-HBM3-SHARED", "H100-80GB"},
      {"NVIDIA-H100-80GB-HBM3-MIG-INVALID", "H100-80GB"},
      {"NVIDIA-H100-PCIe", "H100-80GB"},
      {"NVIDIA-H800", "H100-80GB"},
      {"NVIDIA-H100-NVL", "H100-94GB"},
      {"NVIDIA-H100-96GB-HBM3", "H100-96GB"},
      {"NVIDIA-H20", "H20"},
      {"NVIDIA-GH200-144G-HBM3e", "GH200-144GB"},
      {"NVIDIA-H200", "H200"},
      {"NVIDIA-H200-NVL", "H200"},
      {"NVIDIA-B200", "B200"},
      {"NVIDIA-GB200", "GB200"},
      {"NVIDIA-B300-SXM6-AC", "B300"},
      {"NVIDIA-GB300", "GB300"},
      {"NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", "RTX-PRO-6000"},
      {"NVIDIA-RTX-PRO-6000-Blackwell-Workstation-Edition", "RTX-PRO-6000"},
      {"NVIDIA-RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edition", "RTX-PRO-6000"},
  };
  for (const auto& [label, model] : cases) {
    const Product* found = find_product(label);
    ASSERT_NE(found, nullptr) << label;
    EXPECT_EQ(found->model, model) << label;
  }
  for (const char* label :
       {"", "NVIDIA-", "NVIDIA-L40S", "NVIDIA-A100", "Tesla-V100", "-MIG-1g.10gb"})
    EXPECT_EQ(find_product(label), nullptr) << label;
}

TEST(Geometry, EveryLabelAndDeviceIdOfTheTableLeadsBack) {
  for (const Product& p : all_products()) {
    for (const std::string& label : p.labels)
      EXPECT_EQ(find_product(label, std::int64_t{p.memory_gb} * 1010), &p) << label;
    for (std::uint16_t id : p.device_ids) EXPECT_EQ(find_product_by_device_id(id), &p) << id;
  }
  EXPECT_EQ(find_product_by_device_id(0x20B2)->model, "A100-80GB");
  EXPECT_EQ(find_product_by_device_id(0x2BB5)->model, "RTX-PRO-6000");
  EXPECT_EQ(find_product_by_device_id(0xFFFF), nullptr);
}

TEST(Geometry, Gh200IsToldApartByMemoryOnly) {
  EXPECT_EQ(find_product("NVIDIA-GH200-480GB", 97871)->model, "GH200-96GB");
  EXPECT_EQ(find_product("NVIDIA-GH200-480GB", 146831)->model, "GH200-144GB");
  EXPECT_EQ(find_product("NVIDIA-GH200-480GB"), nullptr);
  EXPECT_EQ(find_product("NVIDIA-GH200-480GB", 11264), nullptr);
  EXPECT_THAT(
      require_product("NVIDIA-GH200-480GB").error().message,
      HasSubstr("may be GH200-96GB or GH200-144GB: nvidia.com/gpu.memory, read while MIG is off, "
                "tells them apart, and it is missing"));
  EXPECT_THAT(require_product("NVIDIA-GH200-480GB", 11264).error().message,
              HasSubstr("says 11264 MiB, which fits neither"));
  // If the label is enough, the memory of one instance (strategy single) must not mislead.
  EXPECT_EQ(find_product("NVIDIA-H200-MIG-1g.18gb", 16384)->model, "H200");
}

TEST(Geometry, AnUnknownProductIsRefusedWithWhatIsKnown) {
  const Error error = require_product("NVIDIA-L40S").error();
  EXPECT_EQ(error.kind, ErrorKind::kInvalidSpec);
  EXPECT_THAT(error.message,
              HasSubstr("the MIG geometry of GPU product \"NVIDIA-L40S\"; it knows A30, "));
}

TEST(Geometry, OneNameMeansDifferentThingsOnDifferentProducts) {
  EXPECT_EQ(product("H200").find_profile("1g.35gb")->max_count, 4);
  EXPECT_EQ(product("GB300").find_profile("1g.35gb")->max_count, 7);
  EXPECT_EQ(product("A100-40GB").find_profile("1g.10gb")->memory_units, 2);
  EXPECT_EQ(product("A100-80GB").find_profile("1g.10gb")->memory_units, 1);
  EXPECT_TRUE(place(product("GB300"), {{"1g.35gb", 7}}));
  EXPECT_FALSE(place(product("H200"), {{"1g.35gb", 7}}));
}

TEST(Geometry, OlderDriversNamesAreTheSameProfile) {
  const Product& gb200 = product("GB200");
  EXPECT_EQ(gb200.find_profile("3g.95gb"), gb200.find_profile("3g.93gb"));
  EXPECT_EQ(gb200.find_profile("7g.189gb")->name, "7g.186gb");
  EXPECT_TRUE(place(gb200, {{"3g.95gb", 2}}));
  EXPECT_EQ(product("GB300").find_profile("3g.95gb"), nullptr);
}

TEST(Geometry, ProfileNamesAreParsed) {
  const auto parsed = parse_profile_name("1g.24gb+me.all");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->compute_slices, 1);
  EXPECT_EQ(parsed->memory_gb, 24);
  EXPECT_EQ(parsed->attributes, "+me.all");
  for (const char* good : {"7g.80gb", "1g.24gb-me", "1g.10gb+gfx,me", "4g.96gb+a1.b2",
                           "1g.10gb+a0.z9,A.Z", "1g.10gb+me.2"})
    EXPECT_TRUE(parse_profile_name(good)) << good;
  for (const char* bad : {"",
                          "g.10gb",
                          "1g",
                          "1g.10",
                          "1g.10GB",
                          "1g.gb",
                          "1g.10gb+",
                          "1g.10gb+1me",
                          "1g.10gb+me-x",
                          "1g.10gb+me,",
                          "1g.10gb+me.",
                          "1g.10gb+me..all",
                          "1g.10gb+me/",
                          "1g.10gb+me:",
                          "1g.10gb ",
                          " 1g.10gb",
                          "１g.10gb",
                          "99999g.10gb",
                          "1g.99999999999999999999gb",
                          "1c.1g.10gb",
                          "-1g.10gb"})
    EXPECT_FALSE(parse_profile_name(bad)) << bad;
}

// The reference: at each memory unit it starts an instance or leaves the unit empty.
struct ReferenceProfile {
  int size;
  std::vector<int> starts;
  int max;
  int engines;  // NVDEC, NVENC and JPEG alike
  int ofa;
};
using ReferenceTable = std::map<std::string, ReferenceProfile>;

void tile(const ReferenceTable& table, int units, int unit,
          const std::map<std::string, std::int64_t>& counts, std::set<ProfileCounts>& out) {
  if (unit >= units) {
    out.insert(counts);
    return;
  }
  tile(table, units, unit + 1, counts, out);
  for (const auto& [name, p] : table) {
    const bool allowed = std::find(p.starts.begin(), p.starts.end(), unit) != p.starts.end();
    if (!allowed || unit + p.size > units) continue;
    auto more = counts;
    ++more[name];
    tile(table, units, unit + p.size, more, out);
  }
}

std::set<ProfileCounts> reference_layouts(const ReferenceTable& table, int units, int engines,
                                          int ofa) {
  std::set<ProfileCounts> out;
  tile(table, units, 0, {}, out);
  out.erase(ProfileCounts{});
  std::erase_if(out, [&](const ProfileCounts& counts) {
    int used = 0, ofa_used = 0;
    for (const auto& [name, count] : counts) {
      if (count > table.at(name).max) return true;
      used += static_cast<int>(count) * table.at(name).engines;
      ofa_used += static_cast<int>(count) * table.at(name).ofa;
    }
    return used > engines || ofa_used > ofa;
  });
  return out;
}

const std::vector<int> kSeven{0, 1, 2, 3, 4, 5, 6}, kQuarters{0, 3, 6, 9};
const ReferenceTable kA100{
    {"1g.10gb", {1, kSeven, 7, 0, 0}},       {"1g.10gb+me", {1, kSeven, 1, 0, 1}},
    {"1g.20gb", {2, {0, 2, 4, 6}, 4, 0, 0}}, {"2g.20gb", {2, {0, 2, 4}, 3, 0, 0}},
    {"3g.40gb", {4, {0, 4}, 2, 0, 0}},       {"4g.40gb", {4, {0}, 1, 0, 0}},
    {"7g.80gb", {8, {0}, 1, 0, 0}}};
const ReferenceTable kA30{{"1g.6gb", {1, {0, 1, 2, 3}, 4, 0, 0}},
                          {"1g.6gb+me", {1, {0, 1, 2, 3}, 1, 0, 1}},
                          {"2g.12gb", {2, {0, 2}, 2, 0, 0}},
                          {"2g.12gb+me", {2, {0, 2}, 1, 0, 1}},
                          {"4g.24gb", {4, {0}, 1, 0, 0}}};
const ReferenceTable kRtx{
    {"1g.24gb", {3, kQuarters, 4, 1, 0}},     {"1g.24gb+me", {3, kQuarters, 1, 1, 1}},
    {"1g.24gb+gfx", {3, kQuarters, 4, 1, 0}}, {"1g.24gb+me.all", {3, kQuarters, 1, 4, 1}},
    {"1g.24gb-me", {3, kQuarters, 4, 0, 0}},  {"2g.48gb", {6, {0, 6}, 2, 2, 0}},
    {"2g.48gb+gfx", {6, {0, 6}, 2, 2, 0}},    {"2g.48gb+me.all", {6, {0, 6}, 1, 4, 1}},
    {"2g.48gb-me", {6, {0, 6}, 2, 0, 0}},     {"4g.96gb", {12, {0}, 1, 4, 1}},
    {"4g.96gb+gfx", {12, {0}, 1, 4, 1}}};

// Calls `call` with every multiset of at most `left` instances.
template <class F>
void each_multiset(const std::vector<std::string>& profiles, std::size_t from, int left,
                   ProfileCounts& counts, const F& call) {
  call(counts);
  if (left == 0) return;
  for (std::size_t i = from; i < profiles.size(); ++i) {
    ++counts[profiles[i]];
    each_multiset(profiles, i, left - 1, counts, call);
    if (--counts[profiles[i]] == 0) counts.erase(profiles[i]);
  }
}

void expect_agreement(const Product& p, const std::set<ProfileCounts>& reference, int at_most) {
  const std::vector<ProfileCounts> all = all_layouts(p);
  EXPECT_EQ(std::set<ProfileCounts>(all.begin(), all.end()), reference);
  EXPECT_EQ(all.size(), reference.size()) << "a layout is listed twice";
  ProfileCounts counts;
  int asked = 0;
  each_multiset(names(p), 0, at_most, counts, [&](const ProfileCounts& wish) {
    ++asked;
    const bool valid = wish.empty() || reference.contains(wish);
    ASSERT_EQ(place(p, wish).has_value(), valid) << format(wish);
    ASSERT_EQ(explain_misfit(p, wish).empty(), valid) << format(wish);
  });
  EXPECT_GT(asked, 200);
}

TEST(Placement, AgreesWithTheReferenceOnEverySet) {
  expect_agreement(product("A100-80GB"), reference_layouts(kA100, 8, 0, 1), 8);
  expect_agreement(product("A30"), reference_layouts(kA30, 4, 0, 1), 5);
  expect_agreement(product("RTX-PRO-6000"), reference_layouts(kRtx, 12, 4, 1), 5);
}

TEST(Placement, GivesPlacesThatObeyTheTable) {
  for (const Product& p : all_products()) {
    for (const ProfileCounts& layout : all_layouts(p)) {
      const auto placed = place(p, layout);
      ASSERT_TRUE(placed) << p.model << " " << format(layout);
      std::set<int> taken;
      ProfileCounts counts;
      for (const Placement& instance : *placed) {
        const auto& starts = instance.profile->starts;
        EXPECT_NE(std::find(starts.begin(), starts.end(), instance.start), starts.end());
        for (int u = 0; u < instance.profile->memory_units; ++u) {
          EXPECT_TRUE(taken.insert(instance.start + u).second) << "overlap";
          EXPECT_LT(instance.start + u, p.memory_units);
        }
        ++counts[instance.profile->name];
      }
      EXPECT_EQ(counts, layout);
    }
  }
}

std::set<std::string> maximal(const Product& p, bool double_memory) {
  std::set<std::string> out;
  for (const ProfileCounts& layout : valid_layouts(p)) {
    if (layout.contains("1g.20gb") == double_memory && !layout.contains("1g.10gb+me"))
      out.insert(format(layout));
  }
  return out;
}

TEST(Placement, TheSevenSlotProductsHaveTwelveMaximalSets) {
  EXPECT_THAT(maximal(product("A100-80GB"), false),
              UnorderedElementsAreArray(
                  {"7g.80gb ×1", "4g.40gb ×1 + 3g.40gb ×1", "4g.40gb ×1 + 2g.20gb ×1 + 1g.10gb ×1",
                   "4g.40gb ×1 + 1g.10gb ×3", "3g.40gb ×2", "3g.40gb ×1 + 2g.20gb ×2",
                   "3g.40gb ×1 + 2g.20gb ×1 + 1g.10gb ×2", "3g.40gb ×1 + 1g.10gb ×4",
                   "2g.20gb ×3 + 1g.10gb ×1", "2g.20gb ×2 + 1g.10gb ×3", "2g.20gb ×1 + 1g.10gb ×5",
                   "1g.10gb ×7"}));
}

TEST(Placement, AndSixteenMoreWithDoubleMemory) {
  EXPECT_THAT(maximal(product("A100-80GB"), true),
              UnorderedElementsAreArray(
                  {"1g.20gb ×4", "1g.20gb ×3 + 1g.10gb ×2", "1g.20gb ×2 + 1g.10gb ×4",
                   "1g.20gb ×1 + 1g.10gb ×6", "2g.20gb ×1 + 1g.20gb ×3",
                   "2g.20gb ×1 + 1g.20gb ×2 + 1g.10gb ×2", "2g.20gb ×1 + 1g.20gb ×1 + 1g.10gb ×4",
                   "2g.20gb ×2 + 1g.20gb ×2", "2g.20gb ×2 + 1g.20gb ×1 + 1g.10gb ×2",
                   "2g.20gb ×3 + 1g.20gb ×1", "3g.40gb ×1 + 1g.20gb ×2",
                   "3g.40gb ×1 + 1g.20gb ×1 + 1g.10gb ×2", "3g.40gb ×1 + 2g.20gb ×1 + 1g.20gb ×1",
                   "4g.40gb ×1 + 1g.20gb ×2", "4g.40gb ×1 + 1g.20gb ×1 + 1g.10gb ×2",
                   "4g.40gb ×1 + 2g.20gb ×1 + 1g.20gb ×1"}));
}

TEST(Placement, A30sMaximalSets) {
  std::set<std::string> plain;
  for (const ProfileCounts& layout : valid_layouts(product("A30")))
    if (!layout.contains("1g.6gb+me") && !layout.contains("2g.12gb+me"))
      plain.insert(format(layout));
  EXPECT_THAT(plain, UnorderedElementsAreArray(
                         {"4g.24gb ×1", "2g.12gb ×2", "2g.12gb ×1 + 1g.6gb ×2", "1g.6gb ×4"}));
}

TEST(Placement, MisfitsSayWhatIsWrong) {
  struct Case {
    const char* model;
    ProfileCounts counts;
    const char* message;
  };
  const std::vector<Case> cases{
      {"A100-80GB", {{"3g.40gb", 2}, {"1g.10gb", 1}}, "needs 9 of 8 memory units"},
      {"A100-80GB", {{"2g.20gb", 4}}, "asks for more of 2g.20gb than the 3 that a GPU can hold"},
      {"A100-80GB", {{"1g.10gb", 8}}, "asks for more of 1g.10gb than the 7 that a GPU can hold"},
      {"A100-80GB",
       {{"1g.10gb+me", 2}},
       "asks for more of 1g.10gb+me than the 1 that a GPU can hold"},
      {"A100-80GB", {{"4g.40gb", 2}}, "asks for more of 4g.40gb than the 1 that a GPU can hold"},
      {"A100-80GB",
       {{"4g.40gb", 1}, {"2g.20gb", 2}},
       "needs 8 of 8 memory units but can't be placed without overlap (4g.40gb starts at 0; "
       "2g.20gb starts at 0, 2, "
       "4)"},
      {"A100-80GB", {{"1g.20gb", 4}, {"1g.10gb", 1}}, "needs 9 of 8 memory units"},
      {"A30", {{"1g.6gb+me", 1}, {"2g.12gb+me", 1}}, "needs 2 of 1 OFA engines"},
      {"RTX-PRO-6000", {{"1g.24gb+me.all", 1}, {"1g.24gb", 1}}, "needs 5 of 4 JPEG engines"},
      {"RTX-PRO-6000", {{"2g.48gb+me.all", 1}, {"1g.24gb+me", 1}}, "needs 2 of 1 OFA engines"},
      {"RTX-PRO-6000", {{"1g.24gb", 5}}, "needs 15 of 12 memory units"},
  };
  for (const Case& c : cases) {
    EXPECT_FALSE(place(product(c.model), c.counts)) << format(c.counts);
    EXPECT_EQ(explain_misfit(product(c.model), c.counts), c.message);
  }
}

TEST(Placement, MediaEnginesMayStandBesideInstancesWithout) {
  const Product& rtx = product("RTX-PRO-6000");
  EXPECT_TRUE(place(rtx, {{"1g.24gb+me.all", 1}, {"1g.24gb-me", 3}}));
  EXPECT_TRUE(place(rtx, {{"2g.48gb+me.all", 1}, {"1g.24gb-me", 2}}));
  EXPECT_TRUE(place(rtx, {{"1g.24gb+me", 1}, {"1g.24gb", 1}, {"2g.48gb", 1}}));
  EXPECT_TRUE(place(rtx, {{"1g.24gb+gfx", 2}, {"2g.48gb+gfx", 1}}));
}

TEST(Placement, NearestLayoutsComeByEditsThenBySize) {
  std::vector<std::string> nearest;
  for (const ProfileCounts& offer :
       nearest_layouts(product("A100-80GB"), {{"3g.40gb", 2}, {"1g.10gb", 1}}, 3))
    nearest.push_back(format(offer));
  EXPECT_THAT(nearest, ElementsAre("3g.40gb ×2", "3g.40gb ×1 + 2g.20gb ×1 + 1g.10gb ×1",
                                   "3g.40gb ×1 + 1g.20gb ×1 + 1g.10gb ×1"));
}

TEST(Placement, HostileCountsAreAnsweredAtOnce) {
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  const auto begin = std::chrono::steady_clock::now();
  for (const Product& p : all_products()) {
    ProfileCounts wish;
    for (const Profile& profile : p.profiles) wish[profile.name] = kHuge;
    EXPECT_FALSE(place(p, wish));
    EXPECT_THAT(explain_misfit(p, wish), HasSubstr("asks for more of"));
    EXPECT_EQ(nearest_layouts(p, wish, 3).size(), 3u);
    for (auto& [name, count] : wish) count = std::numeric_limits<std::int64_t>::min();
    EXPECT_FALSE(place(p, wish));
  }
  EXPECT_FALSE(place(product("A30"), {{"9g.999gb", 1}}));
  EXPECT_FALSE(place(product("A30"), {{"", 0}}));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST(LayoutList, ShowsProfilesResourcesAndMaximalLayouts) {
  const Result<std::string> text = list_layouts("NVIDIA-A30-MIG-1g.6gb");
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("A30: 4 memory units, 4 compute slices"));
  EXPECT_THAT(*text, HasSubstr("nvidia.com/mig-2g.12gb.me"));
  EXPECT_THAT(*text, HasSubstr("\n  2g.12gb ×1 + 1g.6gb ×2\n"));
  EXPECT_EQ(*list_layouts("a30"), *text);
  EXPECT_EQ(*list_layouts("0x20b7"), *text);
  EXPECT_THAT(*list_layouts("gb200"), HasSubstr("(older drivers: 3g.95gb)"));
  EXPECT_THAT(list_layouts("0xZZ").error().message, HasSubstr("it knows A30, A100-40GB"));
  for (const Product& p : all_products()) EXPECT_THAT(list_products(), HasSubstr(p.model));
}

}  // namespace
}  // namespace berth
