// SPDX-License-Identifier: Apache-2.0
// PlainJson: texts whose meaning is unambiguous.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

namespace berth::test {

// nullopt unless the whole text is JSON, no object has a key twice, every number is a 64-bit
// integer, and the nesting is flat.
std::optional<nlohmann::json> plain_json(std::string_view text);

bool is_utf8(std::string_view text);

}  // namespace berth::test
