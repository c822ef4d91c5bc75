// SPDX-License-Identifier: Apache-2.0
// PlainJson: texts of which there is no two opinions what they mean.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

namespace berth::test {

// Nothing unless the text is JSON to its last byte, no key stands twice in an object, every
// number is whole and of 64 bits, and nothing is nested deeply.
std::optional<nlohmann::json> plain_json(std::string_view text);

bool is_utf8(std::string_view text);

}  // namespace berth::test
