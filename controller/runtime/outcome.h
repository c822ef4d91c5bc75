// SPDX-License-Identifier: Apache-2.0
// Outcome: how a step, an object or a whole plan went, told by kind so that the shell can choose
// what happens next. Which of the API server's errors means what is written here and nowhere else.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apis/result.h"
#include "controller/core/plan.h"
#include "controller/io/log.h"

namespace berth {

// Of several the worst counts, which is the last here.
enum class Fate {
  kNothing,   // there was nothing to do
  kDone,      // every step succeeded
  kAnswered,  // the server said no to an eviction, real or asked: a state the core plans with
  kRefused,   // a guard saw live what the cache did not show
  kConflict,  // a precondition failed, or the object is gone: the cache was behind
  kRetry,     // throttled, timed out, unavailable: applied or not, unknown
  kRejected,  // invalid or forbidden: trying again unchanged is of little use
  kStopped,   // we do not lead any more, or are shutting down
};
const char* to_string(Fate fate);
Fate fate_of(const Error& error);
Fate fate_of_eviction(const Error& error);
// How an eviction went, in the words of berth_evictions_total; `deleted`: it was a deletion, past
// the budgets. Null: it succeeded.
inline constexpr const char* kEvictionResults[] = {"evicted", "deleted", "gone",
                                                   "budget",  "refused", "retry"};
const char* eviction_result(bool deleted, const Error* error);
// Of a write's line: conflicts and answers are how a busy cluster talks, the rest deserves a look.
LogLevel level_of(Fate fate);
// The error of a request that was not sent.
Error not_leading();

// How one request went, and the error if it did not succeed.
using Verdict = std::pair<Fate, Error>;

struct Outcome {
  Fate fate = Fate::kNothing;
  std::uint32_t steps = 0;                              // that were sent
  std::uint32_t writes = 0;                             // that succeeded, statuses not counted
  std::vector<ObjectRef> conflicts;                     // objects whose cached version is behind
  std::string error;                                    // of the worst step, for the log
  bool logged = false;                                  // it has a line there of its own
  std::optional<std::chrono::nanoseconds> retry_after;  // the server's word
  std::optional<std::chrono::nanoseconds> status_due;   // a status was held back this long

  // Takes in how one request about the object went; `has_line`: the log has told.
  void settle(const ObjectRef& object, const Verdict& verdict, bool has_line = false);
};

}  // namespace berth
