// SPDX-License-Identifier: Apache-2.0
// Cut: long text shortened, and never inside of a character.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth {

// The beginning, `bytes` at most.
std::string_view head(std::string_view text, std::size_t bytes);

// `bytes` at most, the dots included; the text itself if it is no longer.
std::string cut(std::string_view text, std::size_t bytes, std::string_view dots = "…");

}  // namespace berth
