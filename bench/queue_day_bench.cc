// SPDX-License-Identifier: Apache-2.0
// queue_day_bench: how much work is thrown away where queues displace each other, over a simulated
// day (day.h), by rule 9 of docs/queue-rules.md and by priority alone. Prints one JSON object.
#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "bench/day.h"

namespace berth::queue {
namespace {

constexpr double kLoads[] = {0.8, 1.0, 1.3};
constexpr unsigned kSeeds = 3;

struct Sum {
  double lost_gpu_hours = 0, done_gpu_hours = 0;
  std::size_t displaced = 0, unplaced = 0, restless = 0;
  void add(const DayFigures& day) {
    lost_gpu_hours += static_cast<double>(day.lost_gpu_minutes) / 60;
    done_gpu_hours += static_cast<double>(day.done_gpu_minutes) / 60;
    displaced += day.displaced, unplaced += day.unplaced;
    restless += day.rests ? 0 : 1;
  }
  void add(const Sum& of) {
    lost_gpu_hours += of.lost_gpu_hours, done_gpu_hours += of.done_gpu_hours;
    displaced += of.displaced, unplaced += of.unplaced, restless += of.restless;
  }
};

struct Days {
  Sum rules, priority;
  std::string by_load;  // GPU-hours lost, by rule 9 and by priority
};

Days play(DayRules day) {
  Days days;
  for (const double load : kLoads) {
    Sum rules, priority;
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
      day.load = load, day.seed = seed, day.by_the_rules = true;
      rules.add(play_day(day));
      day.by_the_rules = false;
      priority.add(play_day(day));
    }
    days.rules.add(rules), days.priority.add(priority);
    days.by_load += fmt::format("{}\"{}\": [{:.0f}, {:.0f}]", days.by_load.empty() ? "" : ", ",
                                load, rules.lost_gpu_hours, priority.lost_gpu_hours);
  }
  return days;
}

std::string text_of(const Days& days) {
  const auto& [rules, priority, by_load] = days;
  return fmt::format(
      "\"lost_vs_priority_only\": {:.3f}, \"lost_gpu_hours\": {{{}}}, \"done_gpu_hours\": [{:.0f}, "
      "{:.0f}], \"displaced\": [{}, {}], \"unplaced\": {}, \"restless\": {}",
      rules.lost_gpu_hours / priority.lost_gpu_hours, by_load, rules.done_gpu_hours,
      priority.done_gpu_hours, rules.displaced, priority.displaced, rules.unplaced, rules.restless);
}

int run() {
  const Days lent = play({}), rivals = play({.rivals = true});
  const Days within = play({.rivals = true, .within_queue = true});
  fmt::print("{{{}, \"rivals\": {{{}}}, \"within_queue\": {{{}}}}}\n", text_of(lent),
             text_of(rivals), text_of(within));
  for (const Days* days : {&lent, &rivals, &within})
    if (days->rules.unplaced + days->rules.restless > 0) return 1;
  return 0;
}

}  // namespace
}  // namespace berth::queue

int main() { return berth::queue::run(); }
