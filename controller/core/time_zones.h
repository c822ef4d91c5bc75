// SPDX-License-Identifier: Apache-2.0
// TimeZones: what clocks on the wall show in the zones that people name. The core asks, the shell
// knows: zones are in files that governments change.
#pragma once

#include <chrono>
#include <string_view>

#include "apis/time.h"

namespace berth {

using LocalTime = std::chrono::local_time<std::chrono::seconds>;

class TimeZone {
 public:
  virtual ~TimeZone() = default;
  virtual LocalTime to_local(Time at) const = 0;
  // When clocks first show it. Of an hour that they skip: when they skip it.
  virtual Time to_time(LocalTime shown) const = 0;
};

class TimeZones {
 public:
  virtual ~TimeZones() = default;
  // By its IANA name, "Europe/Berlin"; null if there is none. Lives as long as this.
  virtual const TimeZone* find(std::string_view name) const = 0;
};

// Knows UTC alone: for whoever has no zones at hand.
const TimeZones& utc_only();

}  // namespace berth
