// SPDX-License-Identifier: Apache-2.0
// TimeZones: local times in named time zones. The core only has this interface; the shell
// implements it, because time zones come from files that change.
#pragma once

#include <chrono>
#include <string_view>

#include "apis/base/time.h"

namespace berth {

using LocalTime = std::chrono::local_time<std::chrono::seconds>;

class TimeZone {
 public:
  virtual ~TimeZone() = default;
  virtual LocalTime to_local(Time at) const = 0;
  // The first time at which clocks show `shown`. If clocks skip it: the time at which they skip it.
  virtual Time to_time(LocalTime shown) const = 0;
};

class TimeZones {
 public:
  virtual ~TimeZones() = default;
  // By IANA name, "Europe/Berlin"; null if there is no such zone. Lives as long as this object.
  virtual const TimeZone* find(std::string_view name) const = 0;
};

// Knows UTC only: for callers without zone files.
const TimeZones& utc_only();

}  // namespace berth
