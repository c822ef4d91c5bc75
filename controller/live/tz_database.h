// SPDX-License-Identifier: Apache-2.0
// TzDatabase: the time zones of the system's tzdata, each read at its first use.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "controller/core/time_zones.h"

namespace berth {

class TzDatabase : public TimeZones {
 public:
  const TimeZone* find(std::string_view name) const override;

 private:
  mutable std::map<std::string, std::unique_ptr<TimeZone>, std::less<>> known_;  // null: none
};

}  // namespace berth
