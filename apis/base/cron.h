// SPDX-License-Identifier: Apache-2.0
// CronSchedule: when a disruption window opens. It has the five cron fields of a Kubernetes
// CronJob. This file knows no clock: the window names the time zone, and other code finds the next
// time.
#pragma once

#include <cstdint>
#include <string_view>

#include "apis/base/result.h"

namespace berth {

struct CronSchedule {
  std::uint64_t minutes = 0;  // bit n: minute n of the hour
  std::uint32_t hours = 0;    // bits 0-23
  std::uint32_t days = 0;     // of the month, bits 1-31
  std::uint16_t months = 0;   // bits 1-12
  std::uint8_t weekdays = 0;  // bits 0-6 from Sunday
  // If neither of the two fields starts with '*', a date needs to match only one of them.
  bool any_day = false;
  bool any_weekday = false;

  bool fires_on(unsigned month, unsigned day, unsigned weekday) const;  // 1-12, 1-31, 0-6
  bool operator==(const CronSchedule&) const = default;
};

// "0 22 * * sat". The error says which field is wrong and what to write. A schedule that matches no
// date, for example 31 February, is an error too.
Result<CronSchedule> parse_cron(std::string_view text);

}  // namespace berth
