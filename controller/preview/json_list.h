// SPDX-License-Identifier: Apache-2.0
// How previews write lists: every list is there, empty or not, so that readers need no special
// case.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

namespace berth {

template <class T, class Encode>
nlohmann::ordered_json list(const std::vector<T>& values, Encode&& encode) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const T& value : values) out.push_back(encode(value));
  return out;
}

}  // namespace berth
