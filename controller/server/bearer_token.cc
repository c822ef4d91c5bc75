// SPDX-License-Identifier: Apache-2.0
#include "controller/server/bearer_token.h"

#include <algorithm>

namespace berth {

std::string bearer_token(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() <= kScheme.size()) return {};
  for (std::size_t i = 0; i < kScheme.size(); ++i) {
    const char c = authorization[i];
    if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != kScheme[i]) return {};
  }
  authorization.remove_prefix(
      std::min(authorization.find_first_not_of(' ', kScheme.size()), authorization.size()));
  return std::string(authorization);
}

}  // namespace berth
