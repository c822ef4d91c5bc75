// SPDX-License-Identifier: Apache-2.0
#include "controller/core/time_zones.h"

namespace berth {
namespace {

class Utc : public TimeZone {
 public:
  LocalTime to_local(Time at) const override {
    return LocalTime(std::chrono::floor<std::chrono::seconds>(at).time_since_epoch());
  }
  Time to_time(LocalTime shown) const override { return Time(shown.time_since_epoch()); }
};

class UtcOnly : public TimeZones {
 public:
  const TimeZone* find(std::string_view name) const override {
    return name == "UTC" ? &utc_ : nullptr;
  }

 private:
  const Utc utc_;
};

}  // namespace

const TimeZones& utc_only() {
  static const UtcOnly zones;
  return zones;
}

}  // namespace berth
