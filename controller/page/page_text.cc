// SPDX-License-Identifier: Apache-2.0
#include "controller/page/page_text.h"

#include <nlohmann/json.hpp>

namespace berth {

std::string compact(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace berth
