// SPDX-License-Identifier: Apache-2.0
// Outline: run times in a play; one turn of plays; what is kept of them.
#include "controller/queue/starts/start_round.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace berth::queue {
namespace {

// If a workload has run for longer than this beyond its declared time, berth expects no end.
// Otherwise the range of workloads behind it would just move along with the clock.
constexpr std::int64_t kEndedWithin = 300'000'000;

constexpr double kFirstRank = 0.5 / static_cast<double>(StartRound::kPlays);

// A play starts with a look at each workload and each node. This many looks take as long as one
// try.
constexpr std::size_t kLooksPerTry = 3;

std::string_view team_of(std::string_view workload) {
  workload.remove_prefix(workload.find('/') + 1);
  return workload.substr(0, workload.find('/'));
}

// A few finished Jobs do not represent all Jobs of a namespace. So in each play all ranks of a
// namespace are shifted by up to this part. It is twice the error of as many independent samples,
// because finished Jobs are no random sample: the longest are not among them yet. With half of it,
// only three of four ranges were right on days whose first Jobs were unlike the rest.
double rank_error(std::uint64_t play, std::string_view team, const Shares& shares) {
  Draws draws(hash_of_name(team) + play);
  return (2 * draws.next() - 1) / std::sqrt(1 + static_cast<double>(shares.size()));
}

// Returns the middle of the workload's part in this play, of kPlays equal parts.
double rank_in(std::uint64_t play, const Workload& workload) {
  const std::uint64_t mix = hash_of_name(*workload.name);
  const std::uint64_t step = 1 + mix % (StartRound::kPlays - 1);
  const std::uint64_t part = (mix / StartRound::kPlays + play * step) % StartRound::kPlays;
  return static_cast<double>(part) / static_cast<double>(StartRound::kPlays) + kFirstRank;
}

std::optional<std::int64_t> takes_in(std::uint64_t play, const Workload& workload,
                                     std::int64_t so_far, const RunShares& shares) {
  const auto most = declared_time(workload);
  if (!most || so_far > *most + kEndedWithin) return std::nullopt;
  const auto whole = static_cast<double>(*most);
  const std::string_view team = team_of(*workload.name);
  const Shares& of_team = shares.in(team);
  const double rank = rank_in(play, workload) + rank_error(play, team, of_team);
  const double share =
      of_team.at(std::clamp(rank, kFirstRank, 1 - kFirstRank), static_cast<double>(so_far) / whole);
  return static_cast<std::int64_t>(share * whole);
}

}  // namespace

std::optional<std::int64_t> declared_time(const Workload& workload) {
  if (!workload.job || workload.job->lasts <= 0) return std::nullopt;
  return workload.job->lasts;
}

RunTimes as_others_did(const RunShares& shares) {
  return [&shares](std::uint64_t play) -> RunTime {
    return [&shares, play](const Workload& workload, std::int64_t so_far) {
      return takes_in(play, workload, so_far, shares);
    };
  };
}

std::size_t StartRound::play(const FactsIndex& index, const Arrivals& arrivals,
                             const RunTimes& run_times, std::int64_t now,
                             const PlayLimits& limits) {
  note_waiting(index);
  const std::size_t to_begin = work_to_begin(index);
  std::size_t work = 0;
  do {
    Arrivals::Stream coming(arrivals, played_);
    const Projection projection =
        project_starts(index, now, run_times(played_), coming, limits.tries);
    note(projection);
    longest_ = std::max(longest_, to_begin + projection.work);
    work += to_begin + projection.work;
  } while (!is_whole() && longest_ <= limits.work && work <= limits.work - longest_);
  return work;
}

std::size_t StartRound::work_to_begin(const FactsIndex& index) {
  return (index.workloads().size() + index.room().nodes()) / kLooksPerTry;
}

// If no workload starts in the first play, none would start if others ended sooner.
bool StartRound::is_whole() const { return played_ == kPlays || (played_ > 0 && !some_begin_); }

void StartRound::note_waiting(const FactsIndex& index) {
  ++turns_;
  const auto take_turn = [&](const Workload& workload) {
    if (turns_ == 1) {
      waiting_.emplace(*workload.name, Waiting{.created = workload.standing.created});
    } else if (const auto found = waiting_.find(*workload.name);
               found != waiting_.end() && found->second.created == workload.standing.created) {
      ++found->second.turns;
    }
  };
  for (const auto& [queue, pending] : index.pending().by_queue())
    for (const auto& [workloads, same] : pending.ready)
      for (const Workload* workload : same.in_order) take_turn(*workload);
}

void StartRound::note(const Projection& projection) {
  if (++played_ == 1)
    for (const Workload* workload : projection.endless) endless_.push_back(*workload->name);
  if (projection.looked_until)
    looked_until_ =
        std::min(looked_until_.value_or(*projection.looked_until), *projection.looked_until);
  for (const auto& [workload, start] : projection.starts) {
    some_begin_ = true;
    if (const auto found = waiting_.find(*workload->name); found != waiting_.end())
      found->second.starts.push_back(start);
  }
}

const std::vector<std::int64_t>* StartRound::starts_of(const Workload& workload) const {
  const auto found = waiting_.find(*workload.name);
  if (found == waiting_.end()) return nullptr;
  const Waiting& waiting = found->second;
  const bool all_the_time = waiting.turns == turns_ && waiting.created == workload.standing.created;
  return all_the_time ? &waiting.starts : nullptr;
}

}  // namespace berth::queue
