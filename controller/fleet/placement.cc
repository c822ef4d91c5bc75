// SPDX-License-Identifier: Apache-2.0
// A GPU's memory units are bits of a mask, and an instance is a run of bits. With at most a dozen
// units and eleven profiles, plain search is fast enough.
#include "controller/fleet/placement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <tuple>

namespace berth {
namespace {

using UnitMask = std::uint32_t;

// A higher count is hostile or a mistake: no GPU holds so many instances. Sums up to here can't
// overflow.
constexpr std::int64_t kAbsurdCount = 1000;

struct Demand {
  const Profile* profile = nullptr;
  std::int64_t count = 0;
};

UnitMask units(const Profile& profile, int start) {
  return ((UnitMask{1} << profile.memory_units) - 1) << start;
}

// Returns the demand in the product's order (largest first), with names resolved and merged;
// nothing if a name is unknown.
std::optional<std::vector<Demand>> resolve(const Product& product, const ProfileCounts& counts) {
  std::vector<Demand> demands;
  for (const auto& [name, count] : counts)
    if (product.find_profile(name) == nullptr) return std::nullopt;
  for (const Profile& profile : product.profiles) {
    Demand demand{&profile, 0};
    for (const auto& [name, count] : counts)
      if (profile.named(name)) demand.count += std::clamp<std::int64_t>(count, -1, kAbsurdCount);
    if (demand.count != 0) demands.push_back(demand);
  }
  return demands;
}

std::int64_t memory_units(const std::vector<Demand>& demands) {
  std::int64_t sum = 0;
  for (const Demand& d : demands) sum += d.count * d.profile->memory_units;
  return sum;
}

struct EngineUse {
  const char* name;
  std::int64_t needed;
  int available;
};

// Returns the first engine of which the set needs more than the GPU has.
std::optional<EngineUse> overused_engine(const Product& product,
                                         const std::vector<Demand>& demands) {
  const std::pair<const char*, int Engines::*> kinds[] = {{"OFA", &Engines::ofa},
                                                          {"JPEG", &Engines::jpeg},
                                                          {"NVDEC", &Engines::nvdec},
                                                          {"NVENC", &Engines::nvenc}};
  for (const auto& [name, member] : kinds) {
    EngineUse use{name, 0, product.engines.*member};
    for (const Demand& d : demands) use.needed += d.count * (d.profile->engines.*member);
    if (use.needed > use.available) return use;
  }
  return std::nullopt;
}

const Demand* over_maximum(const std::vector<Demand>& demands) {
  for (const Demand& d : demands)
    if (d.count < 0 || d.count > d.profile->max_count) return &d;
  return nullptr;
}

// Depth first, largest profile first. Instances of one profile are placed in ascending order,
// because they are alike.
bool search(const std::vector<Demand>& demands, std::size_t index, std::int64_t placed, int from,
            UnitMask occupied, std::vector<Placement>& out) {
  if (index == demands.size()) return true;
  const Demand& demand = demands[index];
  if (placed == demand.count) return search(demands, index + 1, 0, 0, occupied, out);
  for (int start : demand.profile->starts) {
    const UnitMask wanted = units(*demand.profile, start);
    if (start < from || (occupied & wanted) != 0) continue;
    out.push_back({demand.profile, start});
    if (search(demands, index, placed + 1, start + 1, occupied | wanted, out)) return true;
    out.pop_back();
  }
  return false;
}

// Finds every valid set. It chooses the count of each profile in turn, and keeps all masks that the
// choice so far can lead to.
class Enumeration {
 public:
  explicit Enumeration(const Product& product) : product_(product) { extend(0, {0}); }
  std::vector<ProfileCounts> take() && { return std::move(found_); }

 private:
  void extend(std::size_t index, const std::vector<UnitMask>& masks) {
    if (index == product_.profiles.size()) {
      if (!chosen_.empty()) found_.push_back(counts());
      return;
    }
    const Profile& profile = product_.profiles[index];
    std::vector<std::vector<UnitMask>> by_count{masks};
    while (static_cast<int>(by_count.size()) <= profile.max_count) {
      std::vector<UnitMask> next = with_one_more(profile, by_count.back());
      if (next.empty()) break;
      by_count.push_back(std::move(next));
    }
    for (std::size_t count = by_count.size(); count-- > 0;) {
      if (count > 0) chosen_.push_back({&profile, static_cast<std::int64_t>(count)});
      if (!overused_engine(product_, chosen_)) extend(index + 1, by_count[count]);
      if (count > 0) chosen_.pop_back();
    }
  }

  static std::vector<UnitMask> with_one_more(const Profile& profile,
                                             const std::vector<UnitMask>& masks) {
    std::set<UnitMask> next;
    for (UnitMask mask : masks)
      for (int start : profile.starts)
        if ((mask & units(profile, start)) == 0) next.insert(mask | units(profile, start));
    return {next.begin(), next.end()};
  }

  ProfileCounts counts() const {
    ProfileCounts out;
    for (const Demand& d : chosen_) out[d.profile->name] = d.count;
    return out;
  }

  const Product& product_;
  std::vector<Demand> chosen_;
  std::vector<ProfileCounts> found_;
};

std::string starts_text(const std::vector<Demand>& demands) {
  std::vector<std::string> parts;
  for (const Demand& d : demands)
    parts.push_back(
        fmt::format("{} starts at {}", d.profile->name, fmt::join(d.profile->starts, ", ")));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::int64_t count_of(const ProfileCounts& counts, const Profile& profile) {
  std::int64_t sum = 0;
  for (const auto& [name, count] : counts)
    if (profile.named(name)) sum += std::clamp<std::int64_t>(count, 0, kAbsurdCount);
  return sum;
}

// Sort key: what a user would choose first comes first.
auto nearness(const Product& product, const ProfileCounts& wish, const ProfileCounts& offer) {
  std::int64_t added = 0, removed = 0, slices = 0, memory = 0, special = 0;
  for (const Profile& profile : product.profiles) {
    const std::int64_t wanted = count_of(wish, profile), offered = count_of(offer, profile);
    added += std::max<std::int64_t>(0, offered - wanted);
    removed += std::max<std::int64_t>(0, wanted - offered);
    slices += offered * profile.compute_slices;
    memory += offered * profile.memory_units;
    if (!profile.attributes.empty()) special += std::max<std::int64_t>(0, offered - wanted);
  }
  // A replaced instance counts as one edit, not as two. A profile with +me or +gfx that the user
  // did not write comes later.
  return std::tuple(std::max(added, removed), special, -slices, -memory, added + removed);
}

}  // namespace

std::optional<std::vector<Placement>> place(const Product& product, const ProfileCounts& counts) {
  std::optional<std::vector<Demand>> demands = resolve(product, counts);
  if (!demands || over_maximum(*demands) != nullptr) return std::nullopt;
  if (memory_units(*demands) > product.memory_units || overused_engine(product, *demands))
    return std::nullopt;
  std::vector<Placement> placed;
  if (!search(*demands, 0, 0, 0, 0, placed)) return std::nullopt;
  std::sort(placed.begin(), placed.end(),
            [](const Placement& a, const Placement& b) { return a.start < b.start; });
  return placed;
}

std::vector<ProfileCounts> all_layouts(const Product& product) {
  return Enumeration(product).take();
}

std::vector<ProfileCounts> valid_layouts(const Product& product) {
  std::vector<ProfileCounts> all = all_layouts(product);
  const std::set<ProfileCounts> valid(all.begin(), all.end());
  std::erase_if(all, [&](const ProfileCounts& counts) {
    return std::any_of(product.profiles.begin(), product.profiles.end(),
                       [&](const Profile& profile) {
                         ProfileCounts larger = counts;
                         ++larger[profile.name];
                         return valid.contains(larger);
                       });
  });
  return all;
}

std::string explain_misfit(const Product& product, const ProfileCounts& counts) {
  const std::optional<std::vector<Demand>> demands = resolve(product, counts);
  if (!demands || place(product, counts)) return "";
  const Demand* excess = over_maximum(*demands);
  const std::int64_t needed = memory_units(*demands);
  if (needed > product.memory_units && needed < kAbsurdCount)
    return fmt::format("needs {} of {} memory units", needed, product.memory_units);
  if (excess != nullptr)
    return fmt::format("asks for more of {} than the {} that a GPU can hold", excess->profile->name,
                       excess->profile->max_count);
  if (std::optional<EngineUse> use = overused_engine(product, *demands))
    return fmt::format("needs {} of {} {} engines", use->needed, use->available, use->name);
  return fmt::format("needs {} of {} memory units but can't be placed without overlap ({})", needed,
                     product.memory_units, starts_text(*demands));
}

std::vector<ProfileCounts> nearest_layouts(const Product& product, const ProfileCounts& wish,
                                           std::size_t at_most) {
  using Key = decltype(nearness(product, wish, wish));
  std::vector<std::pair<Key, ProfileCounts>> offers;
  for (ProfileCounts& offer : all_layouts(product)) {
    Key key = nearness(product, wish, offer);
    offers.emplace_back(key, std::move(offer));
  }
  std::stable_sort(offers.begin(), offers.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ProfileCounts> nearest;
  for (std::size_t i = 0; i < std::min(at_most, offers.size()); ++i)
    nearest.push_back(std::move(offers[i].second));
  return nearest;
}

}  // namespace berth
