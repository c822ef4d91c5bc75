// SPDX-License-Identifier: Apache-2.0
// Gzip: a body as HTTP's content-encoding of that name has it.
#pragma once

#include <string>
#include <string_view>

namespace berth {

std::string gzip(std::string_view text);
// Whether a client says so in its Accept-Encoding.
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace berth
