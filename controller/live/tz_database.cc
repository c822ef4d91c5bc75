// SPDX-License-Identifier: Apache-2.0
#include "controller/live/tz_database.h"

#include <date/tz.h>

#include <stdexcept>

namespace berth {
namespace {

using std::chrono::floor;
using std::chrono::seconds;

class TzZone : public TimeZone {
 public:
  explicit TzZone(const date::time_zone& zone) : zone_(zone) {}

  LocalTime to_local(Time at) const override {
    const date::sys_seconds whole(floor<seconds>(at.time_since_epoch()));
    return LocalTime(zone_.to_local(whole).time_since_epoch());
  }
  Time to_time(LocalTime shown) const override {
    const date::local_seconds local(shown.time_since_epoch());
    const date::local_info info = zone_.get_info(local);
    if (info.result == date::local_info::nonexistent)
      return Time(info.first.end.time_since_epoch());
    return Time((local.time_since_epoch()) - info.first.offset);
  }

 private:
  const date::time_zone& zone_;
};

}  // namespace

const TimeZone* TzDatabase::find(std::string_view name) const {
  auto known = known_.find(name);
  if (known == known_.end()) {
    std::unique_ptr<TimeZone> zone;
    try {
      zone = std::make_unique<TzZone>(*date::locate_zone(name));
    } catch (const std::runtime_error&) {
      // There is no such zone, or no tzdata.
    }
    known = known_.emplace(std::string(name), std::move(zone)).first;
  }
  return known->second.get();
}

}  // namespace berth
