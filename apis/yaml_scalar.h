// SPDX-License-Identifier: Apache-2.0
// What an untagged YAML scalar means to kubectl and the API server, whose library follows YAML 1.1
// where it hurts: yes and on are true, 010 is eight.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "apis/result.h"

namespace berth {

// `tag` is "?" for a plain scalar, "!" for a quoted one, or the tag as written. An error for a
// number that JSON can't hold (.nan, .inf) and for a text that its tag contradicts.
Result<nlohmann::json> type_scalar(const std::string& text, const std::string& tag);

// A mapping's key: always text, numbers and truth values as JSON would print them.
Result<std::string> type_key(const std::string& text, const std::string& tag);

}  // namespace berth
