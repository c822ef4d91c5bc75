// SPDX-License-Identifier: Apache-2.0
// Crowd: which connection a full server closes for a new one. The server accepts every new
// connection: if it refused them, idle connections could block it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth {

// In IPv6 form; all zero: unknown.
using PeerAddress = std::array<std::uint8_t, 16>;

struct Standing {
  // In the order in which they are closed: the first state first.
  enum class State {
    kTold,  // has its last answer and only has to read it
    kNew,   // has no answer yet, whatever it has sent
    kIdle,  // has been answered, and asks for nothing
    kBusy,  // has been answered, and is sending a request or reading an answer
  };
  PeerAddress peer{};
  State state = State::kNew;
  std::uint64_t since_ms = 0;
};

// The index of the connection to close; `all` must not be empty.
// - If one address has more than half of the places, it loses one of its own. API servers are few
//   and may share a proxy, so one address may have many connections, but not at others' expense.
// - New and answered connections are two groups, and the larger group loses one. So many silent
//   clients can't close the connections of API servers, and clients that asked once can't keep an
//   API server out.
// - Within the group: by state, then the one that has been in its state longest.
std::size_t choose_who_goes(const std::vector<Standing>& all);

}  // namespace berth
