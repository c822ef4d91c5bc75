// SPDX-License-Identifier: Apache-2.0
// Outline: how long each runs in a projection; what the projections say together; the words.
#include "controller/queue/start_estimates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "apis/time.h"
#include "controller/queue/route.h"

namespace berth::queue {
namespace {

constexpr std::int64_t kMinuteLong = 60'000'000;

// What runs on for longer beyond what it has declared is ended by nobody: the range of who waits
// for it would only move along with the clock.
constexpr std::int64_t kEndedWithin = 5 * kMinuteLong;

// A prime: each workload goes through all parts of what others took, one after the other, and no
// two in the same order.
constexpr std::uint64_t kGuesses = 31;

// So many of its starts a range holds. Nine of ten would be 28; but the shortest of several lies
// where starts happen to be close, and what waits on one day shares what is not known of it: with
// 29 fewer than nine of ten held on some days.
constexpr std::size_t kHeld = 30;

constexpr double kFirstRank = 0.5 / static_cast<double>(kGuesses);

std::string_view team_of(std::string_view workload) {
  workload.remove_prefix(workload.find('/') + 1);
  return workload.substr(0, workload.find('/'));
}

std::optional<std::int64_t> declared(const Workload& workload) {
  if (!workload.job || workload.job->lasts <= 0) return std::nullopt;
  return workload.job->lasts;
}

// What few have shown is not what all do: by so much of all may the ranks of a whole namespace be
// off in this projection. Twice the error that so many independent ones would leave, as those that
// have finished are not any ones: whoever takes long is not among them yet. With half of it three
// of four ranges held on days whose first Jobs were unlike the rest.
double rank_error(std::uint64_t projection, std::string_view team, const Shares& shares) {
  Draws draws(hash_of_name(team) + projection);
  return (2 * draws.next() - 1) / std::sqrt(1 + static_cast<double>(shares.size()));
}

// In which of kGuesses equal parts the workload is in this projection.
double rank_in(std::uint64_t projection, const Workload& workload) {
  const std::uint64_t mix = hash_of_name(*workload.name);
  const std::uint64_t step = 1 + mix % (kGuesses - 1);
  const std::uint64_t part = (mix / kGuesses + projection * step) % kGuesses;
  return static_cast<double>(part) / static_cast<double>(kGuesses) + kFirstRank;
}

// Null: it is not there any more.
const QueueFact* fact_of_queue(const Workload& workload, const FactsIndex& index) {
  const std::vector<Charge>& charges = workload.standing.charges;
  const QueueId id = charges.empty() ? workload.standing.queue
                                     : index.catalog().holder_parts(charges.front().holder).first;
  const auto found = index.queues().find(index.catalog().queue_name(id));
  return found == index.queues().end() ? nullptr : &found->second;
}

bool share_pools(const QueueFact* a, const QueueFact* b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr) return false;
  return std::ranges::any_of(a->quotas, [&](const QuotaFact& one) {
    return std::ranges::any_of(b->quotas, [&](const QuotaFact& other) {
      return one.pool == other.pool || one.pool == kAnyPool || other.pool == kAnyPool;
    });
  });
}

RunTime as_others_did(const RunShares& shares, std::uint64_t projection) {
  return [&shares, projection](const Workload& workload,
                               std::int64_t so_far) -> std::optional<std::int64_t> {
    const auto most = declared(workload);
    if (!most || so_far > *most + kEndedWithin) return std::nullopt;
    const auto whole = static_cast<double>(*most);
    const std::string_view team = team_of(*workload.name);
    const Shares& of_team = shares.in(team);
    const double rank = rank_in(projection, workload) + rank_error(projection, team, of_team);
    const double share = of_team.at(std::clamp(rank, kFirstRank, 1 - kFirstRank),
                                    static_cast<double>(so_far) / whole);
    return static_cast<std::int64_t>(share * whole);
  };
}

// Of those that hold kHeld.
StartEstimate shortest_range(const std::vector<std::int64_t>& starts) {
  std::size_t best = 0;
  const auto width = [&](std::size_t first) { return starts[first + kHeld - 1] - starts[first]; };
  for (std::size_t first = 1; first + kHeld <= starts.size(); ++first)
    if (width(first) < width(best)) best = first;
  return {.earliest = starts[best], .latest = starts[best + kHeld - 1]};
}

}  // namespace

StartEstimates::StartEstimates(const FactsIndex& index, const RunShares& shares, std::int64_t now,
                               std::size_t tries)
    : StartEstimates(
          index, Arrivals(index, now),
          [&](std::uint64_t projection) { return as_others_did(shares, projection); }, now, tries) {
}

StartEstimates::StartEstimates(const FactsIndex& index, const Arrivals& arrivals,
                               const std::function<RunTime(std::uint64_t projection)>& run_time,
                               std::int64_t now, std::size_t tries)
    : index_(index), quotas_(index) {
  for (std::uint64_t i = 0; i < kGuesses; ++i) {
    Arrivals::Stream coming(arrivals, i);
    note(project_starts(index, now, run_time(i), coming, tries));
    if (starts_.empty()) return;  // nor would anybody begin if others ended sooner
  }
}

void StartEstimates::note(const Projection& projection) {
  if (starts_.empty()) endless_ = projection.endless;
  if (projection.looked_until)
    looked_until_ =
        std::min(looked_until_.value_or(*projection.looked_until), *projection.looked_until);
  for (const auto& [workload, start] : projection.starts) starts_[workload].push_back(start);
}

bool StartEstimates::may_begin(const Workload& workload) const {
  const Standing& standing = workload.standing;
  const QueueQuotas* queue = quotas_.find(standing.queue);
  if (!standing.pending || standing.unready != Unready::kNo || queue == nullptr ||
      queue->fact->held)
    return false;
  Routes routes;
  find_routes(*queue, standing.workload_class, index_.catalog(), index_.room(), routes);
  return !routes.open.empty();
}

// Those of its queue first, then of those that could hold the same quota or room.
std::vector<const Workload*> StartEstimates::endless_before(const Workload& workload) const {
  std::vector<const Workload*> before;
  for (const Workload* other : endless_)
    if (other != &workload &&
        share_pools(fact_of_queue(*other, index_), fact_of_queue(workload, index_)))
      before.push_back(other);
  std::ranges::stable_partition(before, [&](const Workload* other) {
    return fact_of_queue(*other, index_) == fact_of_queue(workload, index_);
  });
  return before;
}

std::optional<StartEstimate> StartEstimates::find(const Workload& workload) const {
  if (!may_begin(workload)) return std::nullopt;
  const auto found = starts_.find(&workload);
  StartEstimate out;
  if (found != starts_.end()) {
    std::vector<std::int64_t> starts = found->second;
    std::ranges::sort(starts);
    if (starts.size() >= kHeld) return shortest_range(starts);
    out.earliest = starts.front();
  }
  if (looked_until_) {
    out.earliest = std::min(out.earliest.value_or(*looked_until_), *looked_until_);
    out.looked_no_further = true;
    return out;
  }
  const std::vector<const Workload*> endless = endless_before(workload);
  if (endless.empty()) return std::nullopt;  // it waits for no end of anything
  out.endless = endless.front();
  out.more_endless = endless.size() - 1;
  return out;
}

StartEstimate coarse(const StartEstimate& estimate, std::int64_t now) {
  const auto step = [&](std::int64_t at) {
    const std::int64_t ahead = at - now;
    return ahead < 120 * kMinuteLong    ? 5 * kMinuteLong
           : ahead < 1440 * kMinuteLong ? 15 * kMinuteLong
                                        : 60 * kMinuteLong;
  };
  StartEstimate out = estimate;
  if (out.earliest) *out.earliest -= *out.earliest % step(*out.earliest);
  if (out.latest) {
    const std::int64_t over = *out.latest % step(*out.latest);
    if (over > 0) *out.latest += step(*out.latest) - over;
  }
  return out;
}

bool still_tells(const StartEstimate& told, const StartEstimate& now) {
  if (!told.earliest || !now.earliest) return !told.earliest && !now.earliest;
  if (!told.latest || !now.latest)
    return !told.latest && !now.latest && told.earliest == now.earliest;
  return *told.earliest <= *now.earliest && *now.latest <= *told.latest &&
         2 * (*now.latest - *now.earliest) >= *told.latest - *told.earliest;
}

std::string describe(const StartEstimate& estimate, std::int64_t now) {
  const StartEstimate rough = coarse(estimate, now);
  const auto told = [now](std::int64_t at) {
    return at <= now ? "now" : format_time(Time(std::chrono::microseconds(at)));
  };
  if (rough.latest)
    return fmt::format(
        "it begins between {} and {}, as far as declared run times and those of "
        "finished Jobs tell",
        told(*rough.earliest), told(*rough.latest));
  if (rough.looked_no_further)
    return fmt::format("it begins at {} or later; too much comes before it to say more",
                       told(*rough.earliest));
  const bool overdue = declared(*rough.endless).has_value();
  const std::string more =
      rough.more_endless == 0
          ? ""
          : fmt::format(", {} {} more", overdue ? "beside" : "nor do", rough.more_endless);
  const std::string who =
      fmt::format("{} {}{}{}", *rough.endless->name,
                  overdue ? "runs on beyond the run time that it declares" : "declares no run time",
                  more, overdue ? "" : "; set activeDeadlineSeconds on Jobs");
  if (rough.earliest)
    return fmt::format("it begins at {} or later, until when is unknown: {}", told(*rough.earliest),
                       who);
  return "when it begins is unknown: " + who;
}

}  // namespace berth::queue
