// SPDX-License-Identifier: Apache-2.0
#include "tests/truth/compare.h"

#include <fmt/format.h>

#include "tests/truth/normalise.h"

namespace berth::truth {
namespace {

using nlohmann::json;

std::string shortened(const json& value) {
  const std::string text = value.dump();
  return text.size() <= 160 ? text : text.substr(0, 157) + "...";
}

std::string describe(const json& server, const json& simulator) {
  std::string out;
  int told = 0;
  for (const json& step : json::diff(server, simulator)) {
    if (++told > 6) return out + "  and more\n";
    const std::string path = step["path"];
    const json::json_pointer at(path);
    const json here = server.contains(at) ? server.at(at) : json("(absent)");
    const json there = step["op"] == "remove" ? json("(absent)") : step["value"];
    out += fmt::format("  {}: server {}, simulator {}\n", path, shortened(here), shortened(there));
  }
  return out;
}

}  // namespace

std::optional<Difference> compare(const std::vector<Exchange>& server,
                                  const std::vector<Exchange>& simulator) {
  Normaliser of_server, of_simulator;
  for (std::size_t i = 0; i < server.size(); ++i) {
    json here = of_server.normalise(server[i].answer);
    json there = of_simulator.normalise(simulator[i].answer);
    if (here == there) continue;
    std::string where = describe(here, there);
    return Difference{i, std::move(here), std::move(there), std::move(where)};
  }
  return std::nullopt;
}

}  // namespace berth::truth
