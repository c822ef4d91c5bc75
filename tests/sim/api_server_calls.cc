// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/api_server_calls.h"

namespace berth::sim {

std::string Watched::summary() const {
  std::string text;
  for (const std::string& frame : frames) {
    if (!text.empty()) text += ", ";
    text += member(frame, "type");
    const std::string name = member(frame, "name");
    if (!name.empty()) text += " " + name;
  }
  return text;
}

std::string member(const std::string& json, const std::string& name) {
  const std::string key = "\"" + name + "\":";
  const std::size_t found = json.find(key);
  if (found == std::string::npos) return "";
  std::size_t from = found + key.size();
  if (json[from] != '"') return json.substr(from, json.find_first_of(",}", from) - from);
  ++from;
  return json.substr(from, json.find('"', from) - from);
}

}  // namespace berth::sim
