// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/words.h"

#include <fmt/format.h>

namespace berth {

std::string name_some(const std::vector<std::string>& names, std::string_view noun) {
  if (names.size() <= 6) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{}, {}, {}, … {} ({} {}s)", names[0], names[1], names[2], names.back(),
                     names.size(), noun);
}

std::string format(const ResourceList& resources) {
  constexpr std::int64_t kGi = std::int64_t{1} << 30;
  std::string text;
  for (const auto& [name, count] : resources) {
    if (count.is_zero()) continue;
    const std::int64_t whole = count.as_whole().value_or(0);
    const bool gibibytes = name != "cpu" && whole >= kGi && whole % kGi == 0;
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name.view(),
                        gibibytes ? fmt::format("{}Gi", whole / kGi) : count.str());
  }
  return text;
}

std::string format(const Taint& taint) {
  return fmt::format("{}{}{}:{}", taint.key.view(), taint.value.empty() ? "" : "=",
                     taint.value.view(), taint.effect.view());
}

}  // namespace berth
