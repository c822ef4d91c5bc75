// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace berth {

// Of the head `Authorization: Bearer x`; empty: there is none. HTTP leaves the case of the first
// word open.
std::string bearer_token(std::string_view authorization);

}  // namespace berth
