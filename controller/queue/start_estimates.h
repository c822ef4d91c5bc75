// SPDX-License-Identifier: Apache-2.0
// StartEstimates: between when and when what waits begins. Work declares how long it runs at most
// (activeDeadlineSeconds); what has finished in its namespace shows which part of that it takes. So
// the queues are projected several times (start_projection.h), each workload taking a part of what
// it has declared as one of those before it did, and others coming meanwhile (arrivals.h). A range
// is the shortest that holds as many of its starts as are to hold of all ranges, and a few more.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "controller/queue/quota_table.h"
#include "controller/queue/run_shares.h"
#include "controller/queue/start_projection.h"

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
  // What a controller takes for it, with all its queues; who asks about one has more time.
  static constexpr std::size_t kFewTries = 4'000, kManyTries = 20'000;

  StartEstimates(const FactsIndex& index, const RunShares& shares, std::int64_t now,
                 std::size_t tries);
  // As whoever knows more of who will come, and of how long each runs in a projection.
  StartEstimates(const FactsIndex& index, const Arrivals& arrivals,
                 const std::function<RunTime(std::uint64_t projection)>& run_time, std::int64_t now,
                 std::size_t tries);
  // Nothing of what is not ready to be admitted, or never could be.
  std::optional<StartEstimate> find(const Workload& workload) const;

 private:
  void note(const Projection& projection);
  bool may_begin(const Workload& workload) const;
  std::vector<const Workload*> endless_before(const Workload& workload) const;

  const FactsIndex& index_;
  QuotaTable quotas_;
  std::unordered_map<const Workload*, std::vector<std::int64_t>> starts_;  // of those that begin
  std::vector<const Workload*> endless_;
  std::optional<std::int64_t> looked_until_;  // the first of all projections
};

// To be told to people: widened to times that stand still while nothing happens.
StartEstimate coarse(const StartEstimate& estimate, std::int64_t now);
// Whether a range that was told says enough: the new one lies within it and is not half as wide.
bool still_tells(const StartEstimate& told, const StartEstimate& now);
// A sentence: "it begins between … and …, …".
std::string describe(const StartEstimate& estimate, std::int64_t now);

}  // namespace berth::queue
