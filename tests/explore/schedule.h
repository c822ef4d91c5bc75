// SPDX-License-Identifier: Apache-2.0
// Schedule: what goes wrong in one run of a scenario, and when, as one line of text that replays
// it: faults joined by commas, each KIND:WHEN:WHAT.
//   write:17:reply-lost      berth's 17th write: before, unapplied, applied, reply-lost, after,
//                            next-step, late, late-alive
//   request:40:503           berth's 40th request: 429, 500, 503, 504
//   frame:9:lost             the 9th watch frame: lost, delayed, stale, coalesced
//   review:5:slow            the API server's 5th review request: unreachable, late, slow, doubled,
//                            crash, freeze, again
//   phase:n1/Applying:edit   once the node is in the phase: edit, pause, delete, recreate
//   actor:12:uncordon        another actor, once the 12th write is applied (see actors.h)
//   stale:12:10s             crash at the 12th write; the restarted process sees the world 10 s
//                            late
//   freeze:12:20s            the process freezes at its 12th write for that time
//   stuck:12:25s             the same, and the write itself is sent only afterwards
//   berths:2                 so many replicas
//   random:7:net|all         network faults and crashes drawn from the seed; `all`: actors too
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apis/base/result.h"
#include "controller/scenario/scenario.h"

namespace berth::explore {

struct Fault {
  std::string kind;   // "write", "frame", …
  std::string where;  // "17", "n1/Applying"
  std::string how;
  int number() const;  // `where` as a number; 0 if it is not one
  // The counter that triggers it: "write", "request", "frame" or "review". Empty: it applies from
  // the start.
  std::string_view counter() const;
};

struct Schedule {
  std::vector<Fault> faults;
  std::string text;
  // Whether the faults leave no lasting change, so that the run must end as the scenario expects.
  bool ends_as_expected(const Scenario& scenario) const;
  // Only the faults that apply from the start.
  Schedule beginning() const;
};
// All possible faults of a review.
const std::vector<std::string>& review_fates();
Result<Schedule> parse_schedule(std::string_view text);

// The events of a run without faults, which are the places for faults.
struct Footprint {
  // berth's writes without Leases and Events: whether each is one of many equal ones.
  std::vector<bool> writes;
  std::vector<bool> requests;  // the same for all exchanges except watches
  int frames = 0;
  int reviews = 0;                  // by the webhook, if there is one
  std::vector<std::string> phases;  // "n1/Applying", each once
};

struct Kind {
  std::string name;                    // a column of the table
  std::vector<std::string> schedules;  // all of them
};
std::vector<Kind> enumerate_schedules(const Scenario& scenario, const Footprint& footprint);

}  // namespace berth::explore
