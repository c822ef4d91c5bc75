// SPDX-License-Identifier: Apache-2.0
// Comparing the two sides' answers to one script.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/truth/side.h"

namespace berth::truth {

struct Difference {
  std::size_t operation;             // index in the script
  nlohmann::json server, simulator;  // normalised
  std::string where;                 // the first few paths at which they differ, with both values
};

// The first one: what comes after it may be its consequence.
std::optional<Difference> compare(const std::vector<Exchange>& server,
                                  const std::vector<Exchange>& simulator);

}  // namespace berth::truth
