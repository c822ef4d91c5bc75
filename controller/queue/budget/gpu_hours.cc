// SPDX-License-Identifier: Apache-2.0
// Outline: sums that do not overflow; budget periods; usage by day; removal of old periods.
#include "controller/queue/budget/gpu_hours.h"

#include <algorithm>
#include <limits>

#include "controller/core/seeded_bugs.h"

namespace berth::queue {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;
using std::chrono::floor;
using std::chrono::seconds;

constexpr Duration kClockStep = 10min;

void add(std::int64_t amount, std::int64_t& sum) {
  if (__builtin_add_overflow(sum, amount, &sum)) sum = std::numeric_limits<std::int64_t>::max();
}

std::int64_t product(std::int64_t gpus, Time from, Time until) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(gpus, floor<seconds>(until - from).count(), &out))
    return std::numeric_limits<std::int64_t>::max();
  return out;
}

// Returns the recorded usage since `from` by whole days, for a period that began before the queue
// had this budget.
std::int64_t counted_since(Time from, const std::string& queue, const GpuHours& hours) {
  std::int64_t used = 0;
  for (auto day = hours.days.lower_bound(day_of(from)); day != hours.days.end(); ++day) {
    const auto of = day->second.find(queue);
    if (of == day->second.end()) continue;
    for (const auto& [namespace_, amount] : of->second) add(amount, used);
  }
  return used;
}

// A period that begins after all counted usage starts at zero.
void open_periods(const Periods& periods, GpuHours& hours) {
  std::erase_if(hours.budgets, [&](const auto& of) { return !periods.contains(of.first); });
  for (const auto& [queue, period] : periods) {
    BudgetAccount& account = hours.budgets[queue];
    if (account.period.from != period.from) {
      const bool next = hours.at && period.from >= *hours.at;
      account.used = next ? 0 : counted_since(period.from, queue, hours);
    }
    account.period = period;
  }
}

void count(const Holder& holder, std::int64_t gpus, Time from, Time until, GpuHours& hours) {
  const auto& [queue, namespace_, pool] = holder;
  if (const auto budget = hours.budgets.find(queue); budget != hours.budgets.end()) {
    const Time begins = std::max(from, budget->second.period.from);
    if (begins < until) add(product(gpus, begins, until), budget->second.used);
  }
  while (from < until) {
    const Time ends = std::min(until, Time(floor<days>(from) + days(1)));
    const std::int64_t used = product(gpus, from, ends);
    add(used, hours.days[day_of(from)][queue][namespace_]);
    add(used, hours.months[month_of(from)][queue][namespace_]);
    add(used, hours.pools.days[day_of(from)][pool]);
    add(used, hours.pools.months[month_of(from)][pool]);
    from = ends;
  }
}

Holder holder_of(const Holding& holding) {
  return {holding.queue, holding.namespace_, holding.pool};
}

}  // namespace

HeldGpus sum_of(const std::vector<Holding>& holdings) {
  HeldGpus held;
  for (const Holding& each : holdings) add(each.gpus, held[holder_of(each)]);
  return held;
}

void count_until(Time now, const HeldGpus* held, const std::vector<Holding>& holdings,
                 const Periods& periods, GpuHours& hours) {
  now = floor<seconds>(now);
  const bool stands = hours.at && now <= *hours.at && now + kClockStep >= *hours.at;
  const bool begins = !hours.at || now + kClockStep < *hours.at;
  open_periods(periods, hours);
  if (stands) return;
  const Time at = begins ? now : *hours.at;
  hours.at = now;
  if (begins) return;

  if (held != nullptr) {
    for (const auto& [holder, gpus] : *held) count(holder, gpus, at, now, hours);
  }
  for (const Holding& each : holdings) {
    const Time since = floor<seconds>(each.since);
    if (held != nullptr && since <= at) continue;
    const bool anew = held == nullptr && seeded(SeededBug::kCountUseAnew);
    count(holder_of(each), each.gpus, anew ? since : std::max(at, since), now, hours);
  }
  forget_old_spans(now, hours);
  forget_old_spans(now, hours.pools);
}

}  // namespace berth::queue
