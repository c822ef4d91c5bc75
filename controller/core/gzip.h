// SPDX-License-Identifier: Apache-2.0
// Gzip: a text as HTTP's content-encoding of that name has it, and as `gunzip` reads it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace berth {

std::string gzip(std::string_view text);
// Nothing if it is not gzip's, or holds more than `most` bytes.
std::optional<std::string> gunzip(std::string_view packed, std::size_t most);
// Whether a client says so in its Accept-Encoding.
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace berth
