// SPDX-License-Identifier: Apache-2.0
// Schedule: what goes wrong in one run of a scenario, and when, as one line of text that replays
// it: faults joined by commas, each KIND:WHEN:WHAT.
//   write:17:reply-lost      of berth's 17th write: before, unapplied, applied, reply-lost, after,
//                            next-step, late, late-alive
//   request:40:503           of its 40th request: 429, 500, 503, 504
//   frame:9:lost             of the 9th watch frame: lost, delayed, stale, coalesced
//   review:5:slow            of the API server's 5th question to the webhook: unreachable, late,
//   slow,
//                            doubled, crash, freeze, again
//   phase:n1/Applying:edit   once the node is in the phase: edit, pause, delete, recreate
//   actor:12:uncordon        somebody else's hand once the 12th write is applied (see actors.h)
//   stale:12:10s             crash at the 12th write; what starts anew sees the world 10 s late
//   freeze:12:20s            the process stops at its 12th write, and wakes
//   stuck:12:25s             the same, and the write itself leaves only then
//   berths:2                 so many replicas
//   random:7:net|all         faults of the network and crashes drawn from the seed; or actors too
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
  int number() const;  // `where` as a number; 0 if it is none
  // What is counted until it strikes: "write", "request", "frame" or "review". Empty: nothing, it
  // is there from the beginning.
  std::string_view counter() const;
};

struct Schedule {
  std::vector<Fault> faults;
  std::string text;
  // Whether the world is the scenario's own again once the faults are over, so that it must end as
  // the scenario expects.
  bool ends_as_expected(const Scenario& scenario) const;
  // Only what is there from the beginning.
  Schedule beginning() const;
};
// What may become of a review.
const std::vector<std::string>& review_fates();
Result<Schedule> parse_schedule(std::string_view text);

// What a run without faults did: where faults can strike.
struct Footprint {
  // Of berth's, without leases and events: whether it is one of many alike.
  std::vector<bool> writes;
  std::vector<bool> requests;  // the same of all exchanges but watches
  int frames = 0;
  int reviews = 0;                  // by the webhook, where there is one
  std::vector<std::string> phases;  // "n1/Applying", each once
};

struct Kind {
  std::string name;                    // a column of the table
  std::vector<std::string> schedules;  // every one there is
};
std::vector<Kind> enumerate_schedules(const Scenario& scenario, const Footprint& footprint);

}  // namespace berth::explore
