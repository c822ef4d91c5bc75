// SPDX-License-Identifier: Apache-2.0
// Time: points in time as the API writes them, and durations as users write them ("20m", "1h30m").
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "apis/base/result.h"

namespace berth {

using Duration = std::chrono::milliseconds;
// Wall-clock time, UTC. To measure a duration inside one process, use Loop::now()
// (controller/io/loop.h).
using Time = std::chrono::sys_time<std::chrono::microseconds>;

// RFC 3339 with or without a fraction: "2026-11-21T14:22:49Z". It accepts other offsets than Z.
Result<Time> parse_time(std::string_view text);
std::string format_time(Time time);        // metav1.Time: seconds, "2026-11-21T14:22:49Z"
std::string format_micro_time(Time time);  // metav1.MicroTime: "2026-11-21T14:22:49.123456Z"

// The format of Go's time.ParseDuration without a sign and without units below milliseconds: "90s",
// "1h30m", "1.5h", "0s". The error for "d" says what to write instead.
Result<Duration> parse_duration(std::string_view text);
// "1h30m0s" as Go prints it, "250ms" below a second.
std::string format_duration(Duration duration);
std::string format_duration_short(Duration duration);  // for users: "1h30m", "20m", "45s"

}  // namespace berth
