// SPDX-License-Identifier: Apache-2.0
// DisruptionCalendar: when nodes may be taken, by a policy's windows and blackouts. An entry that
// can't be read opens nothing: a broken window stays shut, and under a broken blackout all does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apis/gpu_cluster_policy.h"
#include "controller/core/time_zones.h"
#include "controller/fleet/recurrence.h"

namespace berth {

class DisruptionCalendar {
 public:
  // The zones outlive it.
  DisruptionCalendar(const DisruptionSpec& spec, const TimeZones& zones);

  // What can't be read: field and remedy.
  const std::vector<Error>& problems() const { return problems_; }

  // Whether it is open, and when that changes next. A change more than a year off, or beyond 400
  // openings and closings, is none.
  DisruptionStatus at(Time now) const;

 private:
  std::vector<Recurrence> read(const std::vector<WindowSpec>& entries, const std::string& field,
                               const TimeZones& zones);
  bool open(Time at) const;
  std::optional<Time> next_opening(Time now) const;
  std::optional<Time> closes(Time now) const;

  std::vector<Recurrence> windows_;
  std::vector<Recurrence> blackouts_;
  bool any_time_ = false;  // no windows are asked for
  bool never_ = false;     // a blackout can't be read
  std::vector<Error> problems_;
};

}  // namespace berth
