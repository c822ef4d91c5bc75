// SPDX-License-Identifier: Apache-2.0
#include "tests/queue/start_oracle.h"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <utility>

#include "tests/queue/start_laws.h"

namespace berth::queue::test {
namespace {

// A stream weighs each class at random, as if so many had come; with this many it hardly matters.
constexpr std::size_t kKnownAsWell = 4;

// The run time, given that it has run for `so_far`.
std::int64_t draw_run_time(const Workload& workload, std::int64_t so_far, Draws& draws) {
  const Team& team = team_of(*workload.name);
  constexpr int kLongEnough = 10'000;
  for (int i = 0; i < kLongEnough; ++i) {
    const double share = draw_share(team, [&] { return draws.next(); });
    const auto takes = static_cast<std::int64_t>(share * static_cast<double>(workload.job->lasts));
    if (takes >= so_far) return takes;
  }
  return so_far;  // it ends right now
}

}  // namespace

StartOracle::StartOracle(FactsIndex& index, bool one_queue, double between)
    : index_(index), between_(between) {
  for (std::size_t i = 0; i < kKnownAsWell; ++i)
    for (const Team& team : kTeams)
      for (const GangSize& size : kSizes)
        for (const std::int64_t declared : kDeclared)
          add_kind(job_of(team, size, declared, fmt::format("any{}", kinds_.size()), one_queue),
                   index);
}

void StartOracle::add_kind(const JobFact& fact, FactsIndex& index) {
  index.put(fact);
  const Workload& waits = *index.find(fact.workload);
  Workload& kind = kinds_.emplace_back();
  kind.name = &names_.emplace_back(fact.workload);
  kind.job = std::make_unique<Job>();
  kind.job->lasts = fact.lasts;
  kind.job->queue = waits.job->queue;
  kind.standing.workload_class = waits.standing.workload_class;
  index.remove_job(fact.workload);
}

StartEstimates StartOracle::estimates(std::int64_t now,
                                      const std::map<std::string, std::int64_t>& run_times) const {
  std::vector<Arrivals::Kind> came;
  for (const Workload& kind : kinds_) came.push_back({&kind, kind.standing.workload_class});
  const double within = between_ * static_cast<double>(came.size());
  const auto run_time = [&](std::uint64_t projection) -> RunTime {
    return [&, projection](const Workload& workload, std::int64_t so_far) {
      const auto known = run_times.find(*workload.name);
      if (known != run_times.end()) return std::optional(known->second);
      Draws draws(hash_of_name(*workload.name) + projection);
      return std::optional(draw_run_time(workload, so_far, draws));
    };
  };
  return StartEstimates(index_, Arrivals(std::move(came), within, now), run_time, now,
                        StartEstimates::kFewTries);
}

}  // namespace berth::queue::test
