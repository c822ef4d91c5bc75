// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "tests/explore/schedule.h"

namespace berth::explore {

using namespace std::chrono_literals;

namespace {

// Tasks are gathered round by round, each so many times what was there before: a campaign that is
// cut short has played a fair sample, and most of a long one shares long beginnings.
constexpr std::size_t kGrowth = 4;

// Of a round the longest come first: the last to be played are short, and no worker waits for long.
void put_long_ones_first(std::deque<Batch>& batches, std::size_t round) {
  std::ranges::stable_sort(batches.begin() + static_cast<std::ptrdiff_t>(round), batches.end(),
                           std::ranges::greater(),
                           [](const Batch& batch) { return batch.branches.size(); });
}

}  // namespace

std::deque<Batch> gather_batches(const std::vector<Task>& tasks, std::size_t first_round) {
  using Key = std::tuple<int, std::uint64_t, bool, std::string>;
  std::deque<Batch> batches;
  std::map<Key, std::size_t> known;
  std::size_t round = std::max<std::size_t>(first_round, 1);
  std::size_t of_round = 0;  // its first batch
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (i == round) {
      round *= kGrowth;
      known.clear();
      put_long_ones_first(batches, of_round);
      of_round = batches.size();
    }
    Schedule schedule = parse_schedule(tasks[i].schedule).value();
    Task common = tasks[i];
    common.schedule = schedule.beginning().text;
    const auto [at, is_new] = known.try_emplace(
        Key{common.scenario, common.seed, common.day, common.schedule}, batches.size());
    if (is_new) batches.push_back({.common = std::move(common), .own = {}, .branches = {}});
    Batch& batch = batches[at->second];
    if (batch.common.schedule == tasks[i].schedule)
      batch.own = i;
    else
      batch.branches.push_back({.number = i, .schedule = std::move(schedule)});
  }
  put_long_ones_first(batches, of_round);
  return batches;
}

void play_batch(const Scenario& scenario, const Batch& batch, const CampaignOptions& options,
                std::chrono::steady_clock::time_point end, const Crew::Say& say) {
  const auto tell = [&say](std::size_t task, const RunReport& report) {
    std::string failure = report.failure;
    std::ranges::replace(failure, '\n', ' ');
    say(fmt::format("E {} {} {}", task, report.simulated / 1ms, failure));
  };
  TrunkHooks hooks;
  hooks.goes_on = [end] { return std::chrono::steady_clock::now() < end; };
  hooks.on_end = [&](const Branch& branch, const RunReport& report) {
    tell(branch.number, report);
  };
  hooks.on_death = [&](const Branch& branch, const std::string& how) {
    say(fmt::format("E {} 0 {}", branch.number, how));
  };
  hooks.on_unreached = [&](const Branch& branch) { say(fmt::format("U {}", branch.number)); };
  // It is the last to be told of, and need not be taken apart.
  if (batch.own)
    hooks.on_trunk = [&](const RunReport& report) {
      tell(*batch.own, report);
      std::_Exit(0);
    };
  play_trunk(scenario, parse_schedule(batch.common.schedule).value(), batch.branches,
             options_of(batch.common, options), hooks);
}

RunOptions options_of(const Task& task, const CampaignOptions& options) {
  RunOptions run;
  run.seed = task.seed;
  run.steps = options.steps;
  if (task.day) {
    run.quiet = 24h;
    run.steps *= 10;
  }
  return run;
}

}  // namespace berth::explore
