// SPDX-License-Identifier: Apache-2.0
// HealthRecord: what berth found wrong with a node's GPUs and what it did about it, in the node's
// own annotation gpu.berth.dev/health, so that a restart forgets nothing and only berth's own
// cordon is ever taken back. Every patch of the node for its health tests the annotation's exact
// old text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apis/core.h"
#include "apis/names.h"

namespace berth {

enum class HealthPhase {
  kReported,   // told, and the node left in service
  kCordoned,   // cordoned by berth, and to be uncordoned by it
  kOverruled,  // a person uncordoned it: the findings of then are accepted for as long as they last
  kRecovered,  // back in service; how often it was out is kept for a while
};
const char* to_string(HealthPhase phase);

struct HealthRecord {
  HealthPhase phase = HealthPhase::kReported;
  std::string node_uid;
  Time since{};              // the phase's begin
  Time last{};               // when anything was last seen, or a while before that
  std::string keys;          // of what was found, for comparing: "FatalXid/0,Hot/3"
  std::string seen;          // when each of the keys was last seen; empty: all at `last`
  std::string findings;      // the same in words, for people
  std::int64_t cordons = 0;  // so far: each after the first doubles the wait
  std::int64_t gpus = 0;     // that were measured on it, or had been; 0: nothing was measured
  std::int64_t proofs = 0;   // that failed since it was cordoned: each doubles the wait, too
  std::string proof;         // why the last of them did
  bool operator==(const HealthRecord&) const = default;
};

// JSON in a fixed key order.
std::string encode_health(const HealthRecord& record);
// Nothing if the text is no such annotation.
std::optional<HealthRecord> decode_health(std::string_view text);

// The node's own: nothing if it has none, or another machine's, or one that a person rewrote.
std::optional<HealthRecord> health_of(const Node& node);
// Whether berth has cordoned the node for its health, and the node still is.
bool is_out_for_health(const Node& node);

}  // namespace berth
