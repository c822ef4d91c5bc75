// SPDX-License-Identifier: Apache-2.0
// Crowd: which connection goes when a server has no place for one more. Whoever comes is let in: a
// server that turned newcomers away would be shut by a crowd that says nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth {

// As IPv6 writes it; all zero: not known.
using PeerAddress = std::array<std::uint8_t, 16>;

struct Standing {
  // The first goes before the second, and so on.
  enum class State {
    kTold,  // has its last answer, and is only waited for to read it
    kNew,   // has not been answered yet, whatever it has said
    kIdle,  // has been answered, and asks for nothing
    kBusy,  // has been answered, and is in the middle of a request or of taking its answer
  };
  PeerAddress peer{};
  State state = State::kNew;
  std::uint64_t since_ms = 0;
};

// The one of them that goes; they may not be none.
// - An address that holds more than half of the places loses one of its own: API servers are few,
//   and a proxy may stand before all of them, so an address may have many, but not at the cost of
//   others.
// - New ones and those that have been answered don't crowd out each other: whichever are more lose
//   one. So neither a crowd that never asks ends the connections that API servers keep, nor one
//   that asked once keeps an API server out.
// - Of these, by their state, the one that has been in it for longest.
std::size_t choose_who_goes(const std::vector<Standing>& all);

}  // namespace berth
