// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/layout_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <vector>

#include "controller/fleet/allocatable.h"
#include "controller/fleet/node_layout.h"
#include "controller/fleet/placement.h"

namespace berth {
namespace {

std::string profile_row(const Profile& profile) {
  std::string row =
      fmt::format("  {:<16}{:<32}{:>3}{:>8}{:>7}   {}", profile.name,
                  mig_resource_name(profile.name), profile.max_count, profile.compute_slices,
                  profile.memory_units, fmt::join(profile.starts, ","));
  if (!profile.aliases.empty())
    row += fmt::format("   (older drivers: {})", fmt::join(profile.aliases, ", "));
  return row + "\n";
}

std::optional<std::uint16_t> parse_device_id(std::string_view text) {
  if (!text.starts_with("0x") && !text.starts_with("0X")) return std::nullopt;
  text.remove_prefix(2);
  std::uint16_t id = 0;
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, id, 16);
  return error == std::errc() && stop == end ? std::optional(id) : std::nullopt;
}

}  // namespace

std::string list_layouts(const Product& product) {
  std::string out = fmt::format("{}: {} memory units, {} compute slices\n", product.model,
                                product.memory_units, product.compute_slices);
  out += fmt::format("nvidia.com/gpu.product: {}\n\n", fmt::join(product.labels, ", "));
  out += fmt::format("  {:<16}{:<32}{:>3}{:>8}{:>7}   {}\n", "PROFILE", "RESOURCE (STRATEGY MIXED)",
                     "MAX", "SLICES", "UNITS", "STARTS");
  for (const Profile& profile : product.profiles) out += profile_row(profile);
  out += "\nA GPU holds any of these, or a part of one:\n";
  for (const ProfileCounts& layout : valid_layouts(product))
    out += fmt::format("  {}\n", format(layout));
  return out;
}

Result<std::string> list_layouts(std::string_view product) {
  if (const Product* known = find_product_by_model(product)) return list_layouts(*known);
  if (std::optional<std::uint16_t> id = parse_device_id(product))
    if (const Product* known = find_product_by_device_id(*id)) return list_layouts(*known);
  Result<const Product*> known = require_product(product);
  if (!known) return known.error();
  return list_layouts(**known);
}

std::string list_products() {
  std::string out;
  for (const Product& product : all_products()) {
    std::vector<std::string> profiles;
    for (const Profile& profile : product.profiles) profiles.push_back(profile.name);
    out += fmt::format("{:<14}{}\n{:<14}{}\n", product.model, fmt::join(profiles, ", "), "",
                       fmt::join(product.labels, ", "));
  }
  return out;
}

}  // namespace berth
