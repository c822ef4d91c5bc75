// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/quota_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "apis/base/quantity.h"
#include "controller/sim/world/object_fields.h"

namespace berth::sim {
namespace {

using nlohmann::json;

constexpr std::string_view kCounted[] = {"pods",
                                         "resourcequotas",
                                         "services",
                                         "replicationcontrollers",
                                         "secrets",
                                         "configmaps",
                                         "persistentvolumeclaims",
                                         "services.nodeports",
                                         "services.loadbalancers"};
constexpr std::string_view kMeasured[] = {"cpu",
                                          "memory",
                                          "ephemeral-storage",
                                          "requests.cpu",
                                          "requests.memory",
                                          "requests.storage",
                                          "requests.ephemeral-storage",
                                          "limits.cpu",
                                          "limits.memory",
                                          "limits.ephemeral-storage"};

bool is_counted(std::string_view name) {
  return std::ranges::find(kCounted, name) != std::end(kCounted);
}
bool is_known(std::string_view name) {
  return name.find('/') != std::string_view::npos || is_counted(name) ||
         std::ranges::find(kMeasured, name) != std::end(kMeasured);
}

std::optional<Quantity> amount_of(const json& value) {
  const auto parsed = Quantity::parse(value.is_string() ? value.get<std::string>() : value.dump());
  return parsed.has_value() ? std::optional(*parsed) : std::nullopt;
}

void check_amounts(const json& quota, const char* part, const char* field,
                   std::vector<Cause>& causes) {
  const json* amounts = find_at(quota, {part, field});
  if (amounts == nullptr) return;
  for (const auto& [name, value] : amounts->items()) {
    const std::string at = fmt::format("{}.{}[{}]", part, field, name);
    const Quantity amount = amount_of(value).value_or(Quantity());
    if (!is_known(name))
      causes.push_back(invalid_value(at, quote(name), "must be a standard resource for quota"));
    if (amount < Quantity())
      causes.push_back(
          invalid_value(at, quote(amount.str()), "must be greater than or equal to 0"));
    if (is_counted(name) && !amount.as_whole())
      causes.push_back(invalid_value(at, quote(amount.str()), "must be an integer"));
  }
}

}  // namespace

void check_quota(const json& quota, std::vector<Cause>& causes) {
  check_amounts(quota, "spec", "hard", causes);
  check_amounts(quota, "status", "hard", causes);
  check_amounts(quota, "status", "used", causes);
}

std::string find_wrong_amounts(const json& quota) {
  const auto is_amount = [](const json& value) {
    return value.is_null() || ((value.is_string() || value.is_number()) && amount_of(value));
  };
  for (const auto& [part, field] :
       {std::pair{"spec", "hard"}, {"status", "hard"}, {"status", "used"}}) {
    const json* amounts = find_at(quota, {part, field});
    if (amounts == nullptr || amounts->is_null()) continue;
    if (!amounts->is_object() || !std::ranges::all_of(*amounts, is_amount))
      return fmt::format("{}.{}", part, field);
  }
  return "";
}

}  // namespace berth::sim
