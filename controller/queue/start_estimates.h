// SPDX-License-Identifier: Apache-2.0
// StartEstimates: between when and when what waits begins. Work declares how long it runs at most
// (activeDeadlineSeconds); what has finished in its namespace shows which part of that it takes. So
// the queues are played on several times (start_round.h), each workload taking a part of what it
// has declared as one of those before it did, and others coming meanwhile (arrivals.h). A range is
// the shortest that holds as many of its starts as are to hold of all ranges, and a few more.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/queue/quota_table.h"
#include "controller/queue/start_round.h"

namespace berth::queue {

struct StartEstimate {
  // Microseconds since the epoch. Without a latest: nobody can say, or it looked no further;
  // without both: nobody knows when anything ends that it waits for.
  std::optional<std::int64_t> earliest, latest;
  bool looked_no_further = false;
  // Of what nobody can say: who holds what it may wait for and has declared nothing, and how many
  // more do.
  const Workload* endless = nullptr;
  std::size_t more_endless = 0;
};

class StartEstimates {
 public:
  // What a controller takes for it at least, with all its queues; who asks about one has more time.
  static constexpr std::size_t kFewTries = 4'000, kManyTries = 20'000;

  StartEstimates(const FactsIndex& index, const RunShares& shares, std::int64_t now,
                 std::size_t tries);
  // As whoever knows more of who will come, and of how long each runs in a play.
  StartEstimates(const FactsIndex& index, const Arrivals& arrivals, const RunTimes& run_times,
                 std::int64_t now, std::size_t tries);
  // By a round that is whole.
  StartEstimates(const FactsIndex& index, StartRound round);
  // Nothing of what is not ready to be admitted, or never could be, or was not all the time.
  std::optional<StartEstimate> find(const Workload& workload) const;

 private:
  // Who holds quota and room, and nobody says until when: of one queue, and what a queue's may
  // wait for.
  struct Holders {
    const QueueFact* queue = nullptr;
    std::vector<const Workload*> all;
  };
  struct Endless {
    const Holders* own = nullptr;
    const Workload* of_others = nullptr;
    std::size_t count = 0;
  };
  bool may_begin(const Workload& workload) const;
  const Endless& endless_for(const QueueFact* queue) const;
  Endless find_endless(const QueueFact* queue) const;
  void name_endless(const Workload& workload, StartEstimate& out) const;

  const FactsIndex& index_;
  QuotaTable quotas_;
  StartRound round_;
  std::vector<Holders> endless_;
  mutable std::map<const QueueFact*, Endless> endless_of_;  // found when the first asks
};

// To be told to people: widened to times that stand still while nothing happens.
StartEstimate coarse(const StartEstimate& estimate, std::int64_t now);
// Whether a range that was told says enough: the new one lies within it and is not half as wide.
bool still_tells(const StartEstimate& told, const StartEstimate& now);
// A sentence: "it begins between … and …, …".
std::string describe(const StartEstimate& estimate, std::int64_t now);

}  // namespace berth::queue
