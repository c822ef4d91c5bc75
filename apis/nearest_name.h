// SPDX-License-Identifier: Apache-2.0
// Guesses what a misspelt name was meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth {

// The known name nearest to `name` by edit distance (letters added, dropped, changed or swapped;
// case counts for nothing), or "" if none is near enough to be worth suggesting.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

}  // namespace berth
