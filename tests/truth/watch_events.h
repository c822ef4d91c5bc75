// SPDX-License-Identifier: Apache-2.0
// The end of a compared watch: the object that its script creates last; or, for a watch with
// initial events, the bookmark after them; or an error.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace berth::truth {

inline constexpr char kLastName[] = "end";

inline bool ends_watch(const std::string& target, const nlohmann::json& event) {
  const std::string type = event.value("type", "");
  if (type == "ERROR") return true;
  if (target.find("sendInitialEvents=true") != std::string::npos) return type == "BOOKMARK";
  const std::string name = event["object"]["metadata"].value("name", "");
  return name == kLastName || name.ends_with(std::string("-") + kLastName);
}

}  // namespace berth::truth
