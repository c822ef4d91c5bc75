// SPDX-License-Identifier: Apache-2.0
// StartEstimates: between when and when what waits begins. Work declares how long it runs at most
// (activeDeadlineSeconds); what has finished in its namespace shows which part of that it takes. So
// the queues are projected several times (start_projection.h), each workload taking a part of what
// it has declared as one of those before it did, and others coming meanwhile (arrivals.h); a range
// is from the first to the last start.
#pragma once

#include <cstdint>
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
  // Nothing of what is not ready to be admitted, or never could be.
  std::optional<StartEstimate> find(const Workload& workload) const;

 private:
  void note(const Projection& projection);
  bool may_begin(const Workload& workload) const;
  std::vector<const Workload*> endless_before(const Workload& workload) const;

  struct Seen {
    std::int64_t earliest = 0, latest = 0;
    std::size_t times = 0;
  };
  const FactsIndex& index_;
  QuotaTable quotas_;
  std::unordered_map<const Workload*, Seen> seen_;
  std::vector<const Workload*> endless_;
  std::optional<std::int64_t> looked_until_;  // the first of all projections
  std::size_t projections_ = 0;
};

// To be told to people: widened to times that stand still while nothing happens.
StartEstimate coarse(const StartEstimate& estimate, std::int64_t now);
// A sentence: "it begins between … and …, …".
std::string describe(const StartEstimate& estimate, std::int64_t now);

}  // namespace berth::queue
