// SPDX-License-Identifier: Apache-2.0
#include "tests/queue/start_score.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace berth::queue::test {
namespace {

constexpr std::size_t kFirst = 30;

double median_minutes(std::vector<std::int64_t> of) {
  if (of.empty()) return 0;
  const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
  std::nth_element(of.begin(), middle, of.end());
  return static_cast<double>(*middle) / 60e6;
}

double share(int part, std::size_t of) {
  return static_cast<double>(part) / static_cast<double>(std::max<std::size_t>(1, of));
}

}  // namespace

void StartScore::add(const ToldStart& told) {
  ++told_;
  if (!told.estimate.latest) return;
  early_ += told.started < *told.estimate.earliest;
  late_ += told.started > *told.estimate.latest;
  held_ += *told.estimate.earliest <= told.started && told.started <= *told.estimate.latest;
  widths_.push_back(*told.estimate.latest - *told.estimate.earliest);
  waits_.push_back(told.started - told.arrived);
}

double StartScore::ranges_share() const {
  return static_cast<double>(widths_.size()) / std::max(1, told_);
}
double StartScore::held_share() const { return share(held_, widths_.size()); }
double StartScore::width() const { return median_minutes(widths_); }
double StartScore::wait() const { return median_minutes(waits_); }

std::string StartScore::text() const {
  return fmt::format(
      "{} ranges of {}, {:.1f}% hold ({} early, {} late); median width {:.0f} min, median wait "
      "{:.0f} min: {:.2f}",
      widths_.size(), told_, 100 * held_share(), early_, late_, width(), wait(),
      width() / std::max(1.0, wait()));
}

void StartScores::add(const std::vector<ToldStart>& of_a_day) {
  std::set<std::string> passed;
  for (const ToldStart& told : of_a_day) {
    if (passed.size() < kFirst) passed.insert(told.workload);
    if (passed.contains(told.workload)) continue;
    if (told.first) first.add(told);
    if (told.sampled) standing.add(told);
  }
}

}  // namespace berth::queue::test
