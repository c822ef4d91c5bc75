// SPDX-License-Identifier: Apache-2.0
// HistoryLine: one thing that happened, as `berth history` prints it and ConfigMap berth-history-…
// stores it. A value without behaviour: its writer sets the time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "apis/base/time.h"

namespace berth {

struct HistoryLine {
  Time at{};
  std::string actor;   // "berth", "mig-manager"; empty: unknown, or the object itself
  std::string object;  // "Node/n3", "Job/team-a/train"
  std::string what;    // "patch", "waits", "is NotReady"
  std::string reason;  // a clause; empty: `what` says it all
  std::string cause;   // the requesting object: "MIGLayout/halves generation 4"; may be empty
  bool operator==(const HistoryLine&) const = default;
};
// `what` of a line that says why an object is pending.
inline constexpr char kWaits[] = "waits";
// The most bytes of one field; berth drops the rest.
inline constexpr std::size_t kMaxHistoryField = 300;

// For example "MIGLayout/halves generation 4".
std::string cause_text(std::string_view object, std::int64_t generation);

// One line of text with its line break: fields separated by tabs, the time in whole seconds.
std::string encode_line(const HistoryLine& line);
// nullopt if the text (without line break) is no valid line, for example because a user edited it.
std::optional<HistoryLine> decode_line(std::string_view text);

// For example "2026-11-27T02:13:05Z  n3                  berth: cordon for layout halves
// (MIGLayout/halves generation 4)", as `berth simulate` prints its lines.
std::string format(const HistoryLine& line);

}  // namespace berth
