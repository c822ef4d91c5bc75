// SPDX-License-Identifier: Apache-2.0
// Compares the two sides' answers to one script.
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
  std::string where;                 // the first differing paths, with both values
};

// The first difference: later ones may be its consequence.
std::optional<Difference> compare(const std::vector<Exchange>& server,
                                  const std::vector<Exchange>& simulator);

}  // namespace berth::truth
