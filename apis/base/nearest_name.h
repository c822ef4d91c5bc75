// SPDX-License-Identifier: Apache-2.0
// NearestName: guesses which known name a misspelt one means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth {

// The known name nearest to `name` by edit distance (letters added, dropped, changed or swapped;
// case ignored), or "" if none is near enough to suggest.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

}  // namespace berth
