// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "tests/explore/schedule.h"

namespace berth::explore {

using namespace std::chrono_literals;

std::deque<Batch> gather_batches(const std::vector<Task>& tasks,
                                 const std::vector<std::size_t>& which, std::size_t branches) {
  using Key = std::tuple<int, std::uint64_t, bool, std::string>;
  std::deque<Batch> batches;
  std::map<Key, std::size_t> open;  // with space left
  for (const std::size_t number : which) {
    Schedule schedule = parse_schedule(tasks[number].schedule).value();
    Task common = tasks[number];
    common.schedule = schedule.beginning().text;
    Key key{common.scenario, common.seed, common.day, common.schedule};
    const auto [at, is_new] = open.try_emplace(key, batches.size());
    if (is_new) batches.push_back({.common = std::move(common), .own = {}, .branches = {}});
    Batch& batch = batches[at->second];
    if (batch.common.schedule == tasks[number].schedule)
      batch.own = number;
    else
      batch.branches.push_back({.number = number, .schedule = std::move(schedule)});
    if (batch.branches.size() == branches) open.erase(key);
  }
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
  hooks.goes_on = [&] { return batch.to_the_end || std::chrono::steady_clock::now() < end; };
  hooks.on_end = [&](const Branch& branch, const RunReport& report) {
    tell(branch.number, report);
  };
  hooks.on_death = [&](const Branch& branch, const std::string& how) {
    say(fmt::format("E {} 0 {}", branch.number, how));
  };
  hooks.on_unreached = [&](const Branch& branch) { say(fmt::format("U {}", branch.number)); };
  // This is the last report, so the run need not be destroyed.
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
