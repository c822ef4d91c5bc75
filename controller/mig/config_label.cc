// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/config_label.h"

#include "apis/base/names.h"
#include "controller/mig/agent_config.h"

namespace berth {
namespace {

constexpr std::size_t kMaxLabelValue = 63;

}  // namespace

std::string base_config(std::string_view label) {
  if (names_config(label, names::kAllDisabled)) return names::kAllDisabled;
  return strip_alias(label);
}

bool names_config(std::string_view label, std::string_view config) {
  if (!label.starts_with(config)) return false;
  if (label.size() == config.size()) return true;
  for (int i = 1; i <= kMaxAlias; ++i)
    if (label == alias(config, i)) return true;
  return false;
}

std::optional<std::string> next_label(std::string_view config, std::string_view current_label) {
  for (int i = 0; i <= kMaxAlias; ++i) {
    if (alias(config, i) != current_label) continue;
    std::string next = alias(config, i + 1);
    return next.size() <= kMaxLabelValue ? std::optional(next) : std::nullopt;
  }
  return std::string(config);
}

}  // namespace berth
