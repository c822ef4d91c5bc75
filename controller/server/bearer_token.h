// SPDX-License-Identifier: Apache-2.0
// BearerToken: reads the token of an Authorization header.
#pragma once

#include <string>
#include <string_view>

namespace berth {

// The token in `Authorization: Bearer x`; "" if there is none. HTTP ignores the case of "Bearer".
std::string bearer_token(std::string_view authorization);

}  // namespace berth
