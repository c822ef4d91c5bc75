// SPDX-License-Identifier: Apache-2.0
// Outcome: the result of a step, an object or a whole plan, by kind, so that the shell can choose
// what to do next. Only this file maps the API server's errors to these kinds.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apis/base/result.h"
#include "controller/core/plan.h"
#include "controller/io/log.h"

namespace berth {

// The worst of several results counts: the last one in this list.
enum class Fate {
  kNothing,   // no step to run
  kDone,      // every step succeeded
  kAnswered,  // the server answered no to an eviction, real or dry run: the core plans with that
  kRefused,   // a guard saw a fact live that the cache lacked
  kConflict,  // a precondition failed, or the object is gone: the cache was outdated
  kRetry,     // throttled, timed out, unavailable: unknown whether applied
  kRejected,  // invalid or forbidden: the same request will fail again
  kStopped,   // this process no longer leads, or shuts down
};
const char* to_string(Fate fate);
Fate fate_of(const Error& error);
Fate fate_of_eviction(const Error& error);
// The result of an eviction as a label of berth_evictions_total. `deleted`: it was a deletion that
// bypassed budgets. `error` is null if it succeeded.
inline constexpr const char* kEvictionResults[] = {"evicted", "deleted", "gone",
                                                   "budget",  "refused", "retry"};
const char* eviction_result(bool deleted, const Error* error);
// For the log line of a write: conflicts and answers are normal in a busy cluster; other failures
// are warnings.
LogLevel level_of(Fate fate);
// The error of a request that was not sent.
Error not_leading();

// How one request went, and the error if it did not succeed.
using Verdict = std::pair<Fate, Error>;

struct Outcome {
  Fate fate = Fate::kNothing;
  std::uint32_t steps = 0;                              // sent
  std::uint32_t writes = 0;                             // successful, without statuses
  std::vector<ObjectRef> conflicts;                     // objects whose cached version is outdated
  std::string error;                                    // of the worst step, for the log
  bool logged = false;                                  // the error has its own log line
  std::optional<std::chrono::nanoseconds> retry_after;  // from the server
  std::optional<std::chrono::nanoseconds> status_due;   // a deferred status is due after this time

  // Adds the result of one request about the object. `has_line`: the log has a line about it.
  void settle(const ObjectRef& object, const Verdict& verdict, bool has_line = false);
};

}  // namespace berth
