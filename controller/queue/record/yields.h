// SPDX-License-Identifier: Apache-2.0
// Yields: who has to give way to whom. Work from which idle GPUs were taken waits again, often
// with the longer age or the higher priority: if it displaced whom it went for, and was idle again,
// the two would take turns for ever. So it displaces nobody while that one is there, and begins
// where room is free. Annotation gpu.berth.dev/yields of the ledger, written with the very entry
// that takes it back: {"OWNER UID": {"to": "Job/ns/name", "uid": …}}.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace berth::queue {

struct Taker {
  std::string workload;
  std::string uid;  // of what was admitted
  bool operator==(const Taker&) const = default;
};
// By the uid of the Job, or of whoever makes the pods anew.
using Yields = std::map<std::string, Taker, std::less<>>;

// Nobody more is taken back for being idle than can be noted.
inline constexpr std::size_t kMostYielding = 256;

std::string encode_yields(const Yields& yields);
// What can't be read is not there.
Yields decode_yields(std::string_view text);

}  // namespace berth::queue
