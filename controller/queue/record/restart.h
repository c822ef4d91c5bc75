// SPDX-License-Identifier: Apache-2.0
// Restart: the controller of a gang that no Job of a queue makes may re-create all of its pods.
// Only the pods record the gang's admission, so it would be lost with the last of them. A mark in
// the ledger of admissions keeps it while the gang lacks pods, and for a while after the last one.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "apis/base/time.h"
#include "controller/queue/facts/facts.h"

namespace berth::queue {

// The ledger's room is for admissions. While there are so many marks, berth writes no further one.
inline constexpr std::size_t kMostRestarts = 64;

// How long an admission outlasts the gang's last pod. Controllers make the next pods within
// seconds. berth does not read whether the controller's object still exists.
inline constexpr Duration kRestartsWithin = std::chrono::seconds(30);

// The key of a mark in the ledger.
std::string restart_key(std::string_view uid);
bool is_restart_key(std::string_view key);

// {"workload", the members of an admission's record (admission_record.h), "makers", "asks":
// [{"pods", "requests"}], once its pods are gone "gone"}.
std::string encode_restart(const RestartFact& restart);
// Nothing if the text is no mark.
std::optional<RestartFact> decode_restart(std::string_view text);

}  // namespace berth::queue
