// SPDX-License-Identifier: Apache-2.0
// Outline: the result of all plays; which workloads block the others; the sentences.
#include "controller/queue/starts/start_estimates.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apis/base/time.h"
#include "controller/queue/cycle/route.h"

namespace berth::queue {
namespace {

constexpr std::int64_t kMinuteLong = 60'000'000;

// How many of its starts a range contains. Nine of ten would be 28. But the shortest of several
// ranges lies where starts happen to be close, and the workloads of one day share what is unknown.
// With 29, fewer than nine of ten ranges were right on some days.
constexpr std::size_t kHeld = 30;

// Returns null if the queue no longer exists.
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

// Returns the shortest range with kHeld starts.
StartEstimate shortest_range(const std::vector<std::int64_t>& starts) {
  std::size_t best = 0;
  const auto width = [&](std::size_t first) { return starts[first + kHeld - 1] - starts[first]; };
  for (std::size_t first = 1; first + kHeld <= starts.size(); ++first)
    if (width(first) < width(best)) best = first;
  return {.earliest = starts[best], .latest = starts[best + kHeld - 1]};
}

StartRound play_whole(const FactsIndex& index, const Arrivals& arrivals, const RunTimes& run_times,
                      std::int64_t now, std::size_t tries) {
  StartRound round;
  round.play(index, arrivals, run_times, now, {.tries = tries});
  return round;
}

}  // namespace

StartEstimates::StartEstimates(const FactsIndex& index, const RunShares& shares, std::int64_t now,
                               std::size_t tries)
    : StartEstimates(index, Arrivals(index, now), as_others_did(shares), now, tries) {}

StartEstimates::StartEstimates(const FactsIndex& index, const Arrivals& arrivals,
                               const RunTimes& run_times, std::int64_t now, std::size_t tries)
    : StartEstimates(index, play_whole(index, arrivals, run_times, now, tries)) {}

StartEstimates::StartEstimates(const FactsIndex& index, StartRound round)
    : index_(index), quotas_(index), round_(std::move(round)) {
  std::map<const QueueFact*, std::size_t> places;
  for (const std::string& name : round_.endless()) {
    const Workload* holds = index.find(name);
    if (holds == nullptr) continue;
    const QueueFact* queue = fact_of_queue(*holds, index);
    const auto [place, fresh] = places.try_emplace(queue, endless_.size());
    if (fresh) endless_.push_back({queue, {}});
    endless_[place->second].all.push_back(holds);
  }
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

// Lists the queue's own workloads first, then those that could hold the same quota or room.
StartEstimates::Endless StartEstimates::find_endless(const QueueFact* queue) const {
  Endless found;
  for (const Holders& holders : endless_) {
    if (!share_pools(holders.queue, queue)) continue;
    found.count += holders.all.size();
    if (holders.queue == queue)
      found.own = &holders;
    else if (found.of_others == nullptr)
      found.of_others = holders.all.front();
  }
  return found;
}

const StartEstimates::Endless& StartEstimates::endless_for(const QueueFact* queue) const {
  const auto [known, fresh] = endless_of_.try_emplace(queue);
  if (fresh) known->second = find_endless(queue);
  return known->second;
}

// Leaves out the workload itself, which may be among these if it starts in a play.
void StartEstimates::name_endless(const Workload& workload, StartEstimate& out) const {
  const Endless& endless = endless_for(fact_of_queue(workload, index_));
  std::size_t count = endless.count;
  out.endless = endless.of_others;
  if (endless.own != nullptr) {
    const auto& own = endless.own->all;
    if (std::ranges::find(own, &workload) != own.end()) --count;
    const auto other =
        std::ranges::find_if(own, [&](const auto* each) { return each != &workload; });
    if (other != own.end()) out.endless = *other;
  }
  if (count > 0) out.more_endless = count - 1;
}

std::optional<StartEstimate> StartEstimates::find(const Workload& workload) const {
  if (!may_begin(workload)) return std::nullopt;
  const std::vector<std::int64_t>* found = round_.starts_of(workload);
  if (found == nullptr) return std::nullopt;
  StartEstimate out;
  if (!found->empty()) {
    std::vector<std::int64_t> starts = *found;
    std::ranges::sort(starts);
    if (starts.size() >= kHeld) return shortest_range(starts);
    out.earliest = starts.front();
  }
  if (const auto until = round_.looked_until()) {
    out.earliest = std::min(out.earliest.value_or(*until), *until);
    out.looked_no_further = true;
    return out;
  }
  name_endless(workload, out);
  if (out.endless == nullptr) return std::nullopt;  // it waits for no workload to end
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
  const bool overdue = declared_time(*rough.endless).has_value();
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
