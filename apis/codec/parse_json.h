// SPDX-License-Identifier: Apache-2.0
// ParseJson: parses JSON text into a document, for code without a reader of its own.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace berth {

// The same result as nlohmann's own parser, several times as fast. A discarded value if the text is
// not entirely JSON.
nlohmann::json parse_json(std::string_view text);

// The same for untrusted text. A document may need fifty times the memory of its text. So a text
// beyond 64 KiB with more than 100,000 values, or nested deeper than 1,024, gives a discarded
// value, too.
nlohmann::json parse_foreign_json(std::string_view text);

}  // namespace berth
