// SPDX-License-Identifier: Apache-2.0
// Where a compared watch ends: at the object that its script creates last, or with an error.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace berth::truth {

inline constexpr char kLastName[] = "end";

inline bool ends_watch(const nlohmann::json& event) {
  if (event.value("type", "") == "ERROR") return true;
  const std::string name = event["object"]["metadata"].value("name", "");
  return name == kLastName || name.ends_with(std::string("-") + kLastName);
}

}  // namespace berth::truth
