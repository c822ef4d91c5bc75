// SPDX-License-Identifier: Apache-2.0
// YamlScalar: the type of an untagged YAML scalar, as kubectl and the API server read it. Their
// library follows YAML 1.1: yes and on are true, 010 is eight.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "apis/base/result.h"

namespace berth {

// `tag` is "?" for a plain scalar, "!" for a quoted one, or the tag as written. It is an error if
// JSON can't hold the number (.nan, .inf) or if the text contradicts its tag.
Result<nlohmann::json> type_scalar(const std::string& text, const std::string& tag);

// A mapping's key: always text. Numbers and booleans become their JSON text.
Result<std::string> type_key(const std::string& text, const std::string& tag);

}  // namespace berth
