// SPDX-License-Identifier: Apache-2.0
// Lightest: finds the choice of things that suffices and weighs least. If all things are taken,
// that must suffice. Among equal choices, the one with the fewest things wins, and then the one
// that leaves out the first ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace berth::queue {

struct Takeable {
  std::vector<std::int64_t> weights;                        // the heaviest first
  std::function<void(std::size_t thing, bool taken)> move;  // at the start all are taken
  std::function<bool()> suffices;                           // whether the taken things suffice
};

// Returns which things are taken; the others are given back. It looks at up to 2^n choices.
std::vector<bool> take_lightest(const Takeable& things);

}  // namespace berth::queue
