// SPDX-License-Identifier: Apache-2.0
// A JSON text as a document, for what has no reader of its own.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace berth {

// What nlohmann's own parser makes of it, several times as fast: a discarded value if it is not
// JSON to the last byte.
nlohmann::json parse_json(std::string_view text);

// The same, for what others send: as a document it may take fifty times its text, so one beyond
// 64 KiB of more than 100,000 values, or nested deeper than 1,024, is discarded too.
nlohmann::json parse_foreign_json(std::string_view text);

}  // namespace berth
