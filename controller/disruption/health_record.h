// SPDX-License-Identifier: Apache-2.0
// HealthRecord: what berth found wrong with a node's GPUs and what it did about it, in the node's
// own annotation gpu.berth.dev/health. So a restart loses nothing, and berth removes only its own
// cordon. Every patch of the node for its health tests the annotation's exact old text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apis/base/names.h"
#include "apis/kinds/core.h"

namespace berth {

enum class HealthPhase {
  kReported,   // reported, and the node stays in service
  kCordoned,   // cordoned by berth, which will uncordon it
  kOverruled,  // a user uncordoned it: the findings at that time are accepted while they last
  kRecovered,  // in service again; the number of cordons is kept for a while
};
const char* to_string(HealthPhase phase);

struct HealthRecord {
  HealthPhase phase = HealthPhase::kReported;
  std::string node_uid;
  Time since{};              // start of the phase
  Time last{};               // when anything was last seen, or a while before that
  std::string keys;          // of the findings, to compare them: "FatalXid/0,Hot/3"
  std::string seen;          // when each of the keys was last seen; empty: all at `last`
  std::string findings;      // the findings as a sentence for users
  std::int64_t cordons = 0;  // so far; each after the first doubles the wait
  std::int64_t gpus = 0;     // that were or had been measured on the node; 0: none
  std::int64_t proofs = 0;   // failed validation Jobs since the cordon; each doubles the wait too
  std::string proof;         // why the last of them failed
  bool operator==(const HealthRecord&) const = default;
};

// Returns JSON with members in a fixed order.
std::string encode_health(const HealthRecord& record);
// Nothing if the text is no such annotation.
std::optional<HealthRecord> decode_health(std::string_view text);

// Returns the node's own record; nothing if it has none, if it is another machine's, or if a user
// has edited it.
std::optional<HealthRecord> health_of(const Node& node);
// Whether berth has cordoned the node for its health, and the node is still cordoned.
bool is_out_for_health(const Node& node);

}  // namespace berth
