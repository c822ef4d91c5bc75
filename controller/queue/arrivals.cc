// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/arrivals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace berth::queue {
namespace {

constexpr double kObserved = 3600e6;  // microseconds
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// What it was when it came. Nothing where nobody has waited as such yet.
const ClassId* class_of(const Job& job, const Catalog& catalog) {
  return catalog.find_class({.roles = {{job.shape, job.wanted}},
                             .wish = job.wish,
                             .of_job = true,
                             .lasts = coarse_span(job.lasts)});
}

}  // namespace

// splitmix64 (Steele, Lea and Flood, 2014).
double Draws::next() {
  std::uint64_t mix = state_ += 0x9e3779b97f4a7c15u;
  mix = (mix ^ mix >> 30) * 0xbf58476d1ce4e5b9u;
  mix = (mix ^ mix >> 27) * 0x94d049bb133111ebu;
  return static_cast<double>((mix ^ mix >> 31) >> 11) * 0x1p-53;
}

Arrivals::Arrivals(const FactsIndex& index, std::int64_t now) : now_(now) {
  for (const auto& [name, workload] : index.workloads()) {
    const Job* job = workload.job.get();
    const bool counts = job != nullptr && !job->held && job->wanted > 0 && job->lasts > 0 &&
                        job->queue != Catalog::kNoQueue;
    if (!counts || job->created > now || static_cast<double>(now - job->created) >= kObserved)
      continue;
    if (const ClassId* workloads = class_of(*job, index.catalog()))
      recent_.push_back({&workload, *workloads});
  }
  std::ranges::sort(recent_, ByName(), &Recent::workload);
}

Arrivals::Stream::Stream(const Arrivals& of, std::uint64_t seed)
    : of_(of), draws_(seed), next_at_(of.now_) {
  draw_next();
}

void Arrivals::Stream::draw_next() {
  if (of_.recent_.empty()) {
    next_at_ = kNever;
    return;
  }
  const double between = kObserved / static_cast<double>(of_.recent_.size());
  next_at_ += 1 + static_cast<std::int64_t>(-std::log(1 - draws_.next()) * between);
}

const Workload& Arrivals::Stream::take() {
  const auto any = draws_.next() * static_cast<double>(of_.recent_.size());
  const Recent& like = of_.recent_[static_cast<std::size_t>(any)];
  names_.push_back(fmt::format("{} {}", *like.workload->name, names_.size()));
  Workload& now = came_.emplace_back();
  now.name = &names_.back();
  now.job = std::make_unique<Job>();
  now.job->lasts = like.workload->job->lasts;
  now.standing.pending = true;
  now.standing.queue = like.workload->job->queue;
  now.standing.priority = like.workload->job->priority;
  now.standing.created = next_at_;
  now.standing.uid = now.name;
  now.standing.workload_class = like.workloads;
  draw_next();
  return now;
}

}  // namespace berth::queue
