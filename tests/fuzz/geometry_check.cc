// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "controller/fleet/allocatable.h"
#include "controller/fleet/geometry.h"
#include "controller/fleet/placement.h"
#include "tests/fuzz/checks.h"

namespace berth::test {
namespace {

// Removes and returns the part before the separator.
std::string_view take_until(char separator, std::string_view& text) {
  const std::string_view piece = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(piece.size() + 1, text.size()));
  return piece;
}

std::string check_name(std::string_view text) {
  const std::optional<ProfileName> name = parse_profile_name(text);
  if (!name) return {};
  const auto print = [](const ProfileName& n) {
    return fmt::format("{}g.{}gb{}", n.compute_slices, n.memory_gb, n.attributes);
  };
  const std::optional<ProfileName> again = parse_profile_name(print(*name));
  if (!again || print(*again) != print(*name)) return "a profile printed as another";
  return mig_resource_name(text).find('+') == std::string::npos ? "" : "no resource's name";
}

// The rules of placement.h, a second time.
std::string check_placement(const Product& product, const ProfileCounts& counts,
                            const std::vector<Placement>& placed) {
  std::uint64_t taken = 0;
  std::size_t wanted = 0;
  for (const auto& [name, count] : counts) wanted += static_cast<std::size_t>(count);
  if (placed.size() != wanted) return "not as many instances as asked for";
  for (const Placement& one : placed) {
    const Profile& profile = *one.profile;
    if (std::ranges::find(profile.starts, one.start) == profile.starts.end())
      return "an instance where none may begin";
    const std::uint64_t units = ((std::uint64_t{1} << profile.memory_units) - 1) << one.start;
    if ((taken & units) != 0 || (units >> product.memory_units) != 0)
      return "two instances in one place";
    taken |= units;
  }
  return {};
}

std::string check_counts(const Product& product, const ProfileCounts& counts) {
  const std::optional<std::vector<Placement>> placed = place(product, counts);
  const bool known = std::ranges::all_of(counts, [&](const auto& entry) {
    return product.find_profile(entry.first) != nullptr && entry.second >= 0;
  });
  if (!known) return placed ? "profiles that there are not were placed" : "";
  if (placed.has_value() != explain_misfit(product, counts).empty())
    return "a misfit is explained where there is none, or not explained";
  if (placed) return check_placement(product, counts, *placed);
  for (const ProfileCounts& other : nearest_layouts(product, counts, 2))
    if (!place(product, other)) return "what is offered instead cannot be placed";
  return {};
}

}  // namespace

Verdict check_geometry(std::string_view text) {
  const std::string_view label = take_until('\n', text);
  Verdict verdict;
  const std::string plain = strip_product_suffix(label);
  if (strip_product_suffix(plain) != plain && plain.find("-SHARED") == plain.npos)
    verdict.wrong = "a suffix under a suffix: " + plain;
  const Product* product = find_product_by_model(label);
  const Product* labelled = find_product(label);
  const Result<const Product*> required = require_product(label);
  if (required.has_value() ? *required != labelled : labelled != nullptr)
    verdict.wrong = "a product that is found and required is another";
  if (product == nullptr) product = labelled;
  ProfileCounts counts;
  while (!text.empty()) {
    std::string_view line = take_until('\n', text);
    const std::string_view name = take_until(' ', line);
    if (std::string wrong = check_name(name); !wrong.empty()) return {.wrong = wrong};
    std::int64_t count = 1;
    std::from_chars(line.data(), line.data() + line.size(), count);
    counts[std::string(name)] = count;
  }
  if (product == nullptr || !verdict.wrong.empty()) return verdict;
  return {.wrong = check_counts(*product, counts), .read = true};
}

}  // namespace berth::test
