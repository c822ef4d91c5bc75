// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/record/yields.h"

#include <nlohmann/json.hpp>

namespace berth::queue {

std::string encode_yields(const Yields& yields) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [owner, taker] : yields)
    json[owner] = {{"to", taker.workload}, {"uid", taker.uid}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Yields decode_yields(std::string_view text) {
  Yields yields;
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return yields;
  for (const auto& [owner, taker] : json.items()) {
    if (!taker.is_object()) continue;
    const auto to = taker.find("to"), uid = taker.find("uid");
    if (to == taker.end() || uid == taker.end() || !to->is_string() || !uid->is_string()) continue;
    yields.emplace(owner, Taker{to->get<std::string>(), uid->get<std::string>()});
  }
  return yields;
}

}  // namespace berth::queue
