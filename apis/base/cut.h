// SPDX-License-Identifier: Apache-2.0
// Cut: shortens text, but never inside a character.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth {

// The start of the text, at most `bytes` bytes.
std::string_view head(std::string_view text, std::size_t bytes);

// At most `bytes` bytes, the dots included. Text that is short enough stays as it is.
std::string cut(std::string_view text, std::size_t bytes, std::string_view dots = "…");

}  // namespace berth
