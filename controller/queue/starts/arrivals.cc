// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/starts/arrivals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace berth::queue {
namespace {

// berth looks at the Jobs of the last hour. If they are fewer than kFewest, the next hour may
// differ widely from them. So it then takes up to kFewest Jobs of the last day. If there are more
// than kMost Jobs, it takes a sample.
constexpr std::int64_t kHour = 3'600'000'000, kDay = 24 * kHour;
constexpr std::size_t kFewest = 64, kMost = 1024;
constexpr double kLeast = 1e-3;  // the least weight of a kind; the mean weight is 1
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// Returns the class that the Job had when it was created, also if the Job has finished and needs no
// more pods. Returns null if no workload of this class has waited yet.
const ClassId* class_of(const Job& job, const Catalog& catalog) {
  const std::int64_t pods = job.admitted ? std::max(job.wanted, job.admitted->pods) : job.wanted;
  return catalog.find_class({.roles = {{job.shape, pods}},
                             .wish = job.wish,
                             .of_job = true,
                             .lasts = coarse_span(job.lasts)});
}

// Sorts by creation time, the newest first.
bool came_later(const Workload* a, const Workload* b) {
  return a->job->created != b->job->created ? a->job->created > b->job->created
                                            : *a->name < *b->name;
}

std::vector<const Workload*> came_since(std::int64_t from, std::int64_t now,
                                        const FactsIndex& index) {
  std::vector<const Workload*> came;
  for (const auto& [name, workload] : index.workloads()) {
    const Job* job = workload.job.get();
    if (job != nullptr && !job->held && job->lasts > 0 && job->queue != Catalog::kNoQueue &&
        job->created > from && job->created <= now)
      came.push_back(&workload);
  }
  return came;
}

}  // namespace

std::uint64_t hash_of_name(std::string_view name) {
  std::uint64_t sum = 14695981039346656037u;  // FNV-1a
  for (const char c : name) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211u;
  sum = (sum ^ sum >> 30) * 0xbf58476d1ce4e5b9u;  // the end of splitmix64
  sum = (sum ^ sum >> 27) * 0x94d049bb133111ebu;
  return sum ^ sum >> 31;
}

// splitmix64 (Steele, Lea and Flood, 2014).
double Draws::next() {
  std::uint64_t mix = state_ += 0x9e3779b97f4a7c15u;
  mix = (mix ^ mix >> 30) * 0xbf58476d1ce4e5b9u;
  mix = (mix ^ mix >> 27) * 0x94d049bb133111ebu;
  return static_cast<double>((mix ^ mix >> 31) >> 11) * 0x1p-53;
}

Arrivals::Arrivals(const FactsIndex& index, std::int64_t now)
    : now_(now), within_(static_cast<double>(kHour)) {
  std::vector<const Workload*> came = came_since(now - kHour, now, index);
  if (came.size() < kFewest) {
    came = came_since(now - kDay, now, index);
    const std::size_t some = std::min(came.size(), kFewest);
    std::ranges::partial_sort(came, came.begin() + static_cast<std::ptrdiff_t>(some), came_later);
    came.resize(some);
    if (some > 0) within_ = std::max(within_, static_cast<double>(now - came.back()->job->created));
  } else {
    std::ranges::sort(came, came_later);
  }
  const std::size_t every = came.size() / kMost + 1;
  within_ /= static_cast<double>(every);
  for (std::size_t i = 0; i < came.size(); i += every)
    if (const ClassId* workloads = class_of(*came[i]->job, index.catalog()))
      came_.push_back({came[i], *workloads});
}

Arrivals::Stream::Stream(const Arrivals& of, std::uint64_t seed)
    : of_(of), draws_(seed), next_at_(of.now_) {
  up_to_.reserve(of.came_.size());
  double sum = 0;
  for (const Kind& kind : of.came_) {
    // Each kind draws from its own seed. Otherwise each new Job would change the weights of all
    // others, and the estimates would change all the time.
    Draws own(hash_of_name(*kind.like->name) + seed);
    up_to_.push_back(sum += std::max(kLeast, -std::log(1 - own.next())));
  }
  draw_next();
}

void Arrivals::Stream::draw_next() {
  if (up_to_.empty()) {
    next_at_ = kNever;
    return;
  }
  const double between = of_.within_ / up_to_.back();
  next_at_ += 1 + static_cast<std::int64_t>(-std::log(1 - draws_.next()) * between);
}

const Workload& Arrivals::Stream::take() {
  const auto any = std::ranges::upper_bound(up_to_, draws_.next() * up_to_.back());
  const Kind& kind = of_.came_[static_cast<std::size_t>(any - up_to_.begin())];
  names_.push_back(fmt::format("{} {}", *kind.like->name, names_.size()));
  Workload& now = came_.emplace_back();
  now.name = &names_.back();
  now.job = std::make_unique<Job>();
  now.job->lasts = kind.like->job->lasts;
  now.standing.pending = true;
  now.standing.queue = kind.like->job->queue;
  now.standing.priority = kind.like->job->priority;
  now.standing.created = next_at_;
  now.standing.uid = now.name;
  now.standing.workload_class = kind.workloads;
  draw_next();
  return now;
}

}  // namespace berth::queue
