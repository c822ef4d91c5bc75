// SPDX-License-Identifier: Apache-2.0
// Gzip: compresses and expands texts in the format of `gunzip` and HTTP's content-encoding gzip.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace berth {

std::string gzip(std::string_view text);
// nullopt if `packed` is not gzip data, or expands to more than `most` bytes.
std::optional<std::string> gunzip(std::string_view packed, std::size_t most);
// Whether a client's Accept-Encoding allows gzip.
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace berth
