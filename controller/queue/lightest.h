// SPDX-License-Identifier: Apache-2.0
// Lightest: of things that suffice when all of them are taken, the choice that suffices and weighs
// least; of equal ones the one of fewest things, then the one that leaves the first ones alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace berth::queue {

struct Takeable {
  std::vector<std::int64_t> weights;                        // the heaviest first
  std::function<void(std::size_t thing, bool taken)> move;  // all are taken at the beginning
  std::function<bool()> suffices;                           // what is taken now
};

// Afterwards those that are true are taken and the others are not. Looks at up to 2^n choices.
std::vector<bool> take_lightest(const Takeable& things);

}  // namespace berth::queue
