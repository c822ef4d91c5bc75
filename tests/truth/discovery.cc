// SPDX-License-Identifier: Apache-2.0
#include "tests/truth/discovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/truth/kinds.h"

namespace berth::truth {
namespace {

using nlohmann::json;

json fetch_resources(Side& side, const std::string& path) {
  const Operation operation{Verb::kGet, "", "discover", "GET", path};
  return side.answer(operation, Memory().fill(operation)).body.value("resources", json::array());
}

json find_resource(const json& resources, const json& name) {
  for (const json& resource : resources)
    if (resource["name"] == name) return resource;
  return json();
}

bool serves(const json& real, const json& simulated) {
  if (!real.is_object()) return false;
  for (const char* field : {"kind", "namespaced", "group", "version"})
    if (real.value(field, json()) != simulated.value(field, json())) return false;
  return std::ranges::all_of(simulated["verbs"], [&real](const json& verb) {
    return std::ranges::find(real["verbs"], verb) != real["verbs"].end();
  });
}

}  // namespace

std::vector<std::string> compare_discovery(Side& server, Side& simulator) {
  std::set<std::string> paths;
  for (const Kind& kind : kinds()) {
    const std::string collection = collection_path(kind, "");
    paths.insert(collection.substr(0, collection.rfind('/')));
  }
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    const json real = fetch_resources(server, path);
    const json simulated = fetch_resources(simulator, path);
    if (simulated.empty()) out.push_back(fmt::format("{}: the simulator serves nothing\n", path));
    for (const json& resource : simulated)
      if (const json found = find_resource(real, resource["name"]); !serves(found, resource))
        out.push_back(
            fmt::format("{}: server {}, simulator {}\n", path, found.dump(), resource.dump()));
  }
  return out;
}

}  // namespace berth::truth
