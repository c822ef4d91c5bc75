// SPDX-License-Identifier: Apache-2.0
// DisruptionCalendar: when nodes may be taken, by a policy's windows and blackouts. An entry that
// can't be read allows nothing: such a window stays closed, and with such a blackout everything
// stays closed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/core/time_zones.h"
#include "controller/fleet/recurrence.h"

namespace berth {

class DisruptionCalendar {
 public:
  // `zones` must outlive the object.
  DisruptionCalendar(const DisruptionSpec& spec, const TimeZones& zones);

  // Returns the entries that can't be read: field, and what to do.
  const std::vector<Error>& problems() const { return problems_; }

  // Returns whether it is open, and when that changes. A change more than a year ahead, or beyond
  // 400 openings and closings, is not reported.
  DisruptionStatus at(Time now) const;

 private:
  std::vector<Recurrence> read(const std::vector<WindowSpec>& entries, const std::string& field,
                               const TimeZones& zones);
  bool open(Time at) const;
  std::optional<Time> next_opening(Time now) const;
  std::optional<Time> closes(Time now) const;

  std::vector<Recurrence> windows_;
  std::vector<Recurrence> blackouts_;
  bool any_time_ = false;  // the spec has no windows
  bool never_ = false;     // a blackout can't be read
  std::vector<Error> problems_;
};

}  // namespace berth
