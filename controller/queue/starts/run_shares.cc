// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/starts/run_shares.h"

#include <algorithm>
#include <chrono>
#include <optional>

namespace berth::queue {
namespace {

std::size_t share_step(double share) {
  const auto step = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * Shares::kSteps);
  return std::min(step, Shares::kSteps - 1);
}

std::optional<double> share_taken(const berth::Job* job) {
  if (job == nullptr || !job->finished_at || !job->start_time) return std::nullopt;
  if (job->active_deadline_seconds.value_or(0) <= 0) return std::nullopt;
  const std::chrono::duration<double> ran = *job->finished_at - *job->start_time;
  return ran.count() / static_cast<double>(*job->active_deadline_seconds);
}

}  // namespace

void Shares::count(double share, std::int64_t by) {
  counts_[share_step(share)] += static_cast<std::int32_t>(by);
  all_ += by;
}

double Shares::at(double rank, double past) const {
  constexpr double kStep = 1.0 / kSteps;
  past = std::clamp(past, 0.0, 1.0);
  const std::size_t first = share_step(past);
  const auto weight = [&](std::size_t step) {
    const double begins = std::max(past, static_cast<double>(step) * kStep);
    const double left = (static_cast<double>(step + 1) * kStep - begins) / kStep;
    return (static_cast<double>(counts_[step]) + kStep) * left;
  };
  double sum = 0;
  for (std::size_t step = first; step < kSteps; ++step) sum += weight(step);
  double left = rank * sum;
  for (std::size_t step = first; step < kSteps; ++step) {
    const double here = weight(step);
    if (left <= here && here > 0) {
      const double begins = std::max(past, static_cast<double>(step) * kStep);
      return begins + left / here * (static_cast<double>(step + 1) * kStep - begins);
    }
    left -= here;
  }
  return 1;
}

void RunShares::follow(const Change<berth::Job>& change) {
  const auto count = [&](const berth::Job* job, std::int64_t by) {
    const std::optional<double> share = share_taken(job);
    if (!share) return;
    const auto at = by_namespace_.try_emplace(job->meta.namespace_).first;
    at->second.count(*share, by);
    if (at->second.empty()) by_namespace_.erase(at);
  };
  count(change.old, -1);
  count(change.now, +1);
}

const Shares& RunShares::in(std::string_view namespace_) const {
  static const Shares kNone;
  const auto found = by_namespace_.find(Text(namespace_));
  return found == by_namespace_.end() ? kNone : found->second;
}

}  // namespace berth::queue
