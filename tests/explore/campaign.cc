// SPDX-License-Identifier: Apache-2.0
// Outline: plan_campaign lists the tasks; run_campaign has a crew run them in batches with a common
// beginning (batch.h), in the order of turns.h.
#include "tests/explore/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <optional>
#include <sstream>
#include <utility>

#include "controller/sim/world/random.h"
#include "tests/explore/batch.h"
#include "tests/explore/crew.h"
#include "tests/explore/exploration.h"
#include "tests/explore/schedule.h"
#include "tests/explore/turns.h"

namespace berth::explore {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::size_t kMaxFailures = 100;  // more add no information
constexpr const char* kRandomKind = "random";

class Collector {
 public:
  Collector(const std::vector<Scenario>& scenarios, const std::vector<Task>& tasks,
            const CampaignOptions& options)
      : scenarios_(scenarios), tasks_(tasks), options_(options) {}

  // The batch to run again, if any.
  std::optional<Batch> take(const Batch& batch, const Crew::News& news) {
    if (news.ended) {
      if (!news.line.empty()) fail(batch.common, news.line);
      return std::nullopt;
    }
    std::istringstream words(news.line);
    char what = 0;
    std::size_t number = 0;
    std::int64_t simulated_ms = 0;
    std::string failure;
    words >> what >> number >> simulated_ms;
    if (what == 'U') {
      // The trunk itself is this task's run, but its result may differ.
      return Batch{
          .common = tasks_[number], .own = number, .branches = {}, .to_the_end = batch.to_the_end};
    }
    words.get();
    std::getline(words, failure);
    const Task& task = tasks_[number];
    ++report.counts[scenarios_[static_cast<std::size_t>(task.scenario)].name][task.kind];
    ++report.schedules;
    report.simulated_seconds += static_cast<double>(simulated_ms) / 1000;
    if (!failure.empty()) fail(task, failure);
    return std::nullopt;
  }
  CampaignReport report;

 private:
  void fail(const Task& task, const std::string& what) {
    Failure failure{task, what, std::max(1, report.schedules)};
    if (!options_.is_wanted || options_.is_wanted(failure))
      report.failures.push_back(std::move(failure));
  }

  const std::vector<Scenario>& scenarios_;
  const std::vector<Task>& tasks_;
  const CampaignOptions& options_;
};

// The tasks of each scenario, from a run of it without faults.
std::vector<std::vector<Task>> survey(const std::vector<Scenario>& scenarios,
                                      const CampaignOptions& options) {
  std::vector<std::vector<Task>> tasks(scenarios.size());
  Crew crew(options.jobs);
  for (std::size_t next = 0; next < scenarios.size() || !crew.is_idle();) {
    for (; crew.has_room() && next < scenarios.size(); ++next)
      crew.start(next, [&](const Crew::Say& say) {
        RunOptions run =
            options_of({.kind = kStoryKind, .schedule = "", .seed = options.seed}, options);
        run.on_end = [&](const RunReport& report) {
          for (const Kind& kind : enumerate_schedules(scenarios[next], report.footprint))
            for (const std::string& schedule : kind.schedules) say(kind.name + " " + schedule);
          std::_Exit(0);
        };
        explore(scenarios[next], {}, run);
      });
    for (const Crew::News& news : crew.wait()) {
      if (news.ended) continue;  // if it died, so will the equal task
      const std::size_t space = news.line.find(' ');
      tasks[news.number].push_back({.scenario = static_cast<int>(news.number),
                                    .kind = news.line.substr(0, space),
                                    .schedule = news.line.substr(space + 1),
                                    .seed = options.seed});
    }
  }
  return tasks;
}

void shuffle(std::vector<Task>& tasks, std::uint64_t seed) {
  sim::Random random(seed);
  for (std::size_t i = tasks.size(); i > 1; --i) std::swap(tasks[i - 1], tasks[random.below(i)]);
}

void add_random(std::vector<Task>& tasks, std::size_t up_to, int scenarios, std::uint64_t seed) {
  for (int number = 1; tasks.size() < up_to; ++number) {
    const char* replicas[] = {"", "berths:2,", "berths:3,"};
    Task task;
    task.scenario = number % scenarios;
    task.kind = kRandomKind;
    task.seed = seed + static_cast<std::uint64_t>(number);
    task.schedule = fmt::format("{}random:{}:{}", replicas[(number / scenarios) % 3], number,
                                number / scenarios % 2 == 0 ? "net" : "all");
    tasks.push_back(std::move(task));
  }
}

}  // namespace

std::vector<Task> plan_campaign(const std::vector<Scenario>& scenarios,
                                const CampaignOptions& options) {
  constexpr std::size_t kEachSecond = 100;  // more than any machine can run
  std::vector<Task> first;                  // without faults
  std::vector<Task> tasks;
  for (std::vector<Task>& its : survey(scenarios, options))
    std::ranges::move(its, std::back_inserter(tasks));
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    first.push_back({.scenario = static_cast<int>(i),
                     .kind = kStoryKind,
                     .schedule = "",
                     .seed = options.seed});
    // In a scenario of certificates, a day without a write is part of the wait for the next step.
    // Faults of GPUs are forgotten after a day.
    if (!options.days || scenarios[i].certificates || scenarios[i].prometheus) continue;
    first.push_back(first.back());
    first.back().kind = "day";
    first.back().day = true;
  }
  shuffle(tasks, options.seed);
  std::size_t room = tasks.size();
  if (options.budget > 0)
    room = static_cast<std::size_t>(std::max(0, options.budget - static_cast<int>(first.size())));
  else
    room += kEachSecond * static_cast<std::size_t>(options.limit.count());
  if (tasks.size() > room) tasks.resize(room);
  add_random(tasks, room, static_cast<int>(scenarios.size()), options.seed);
  tasks.insert(tasks.begin(), first.begin(), first.end());
  return tasks;
}

CampaignReport run_campaign(const std::vector<Scenario>& scenarios, const std::vector<Task>& tasks,
                            const CampaignOptions& options) {
  const Clock::time_point start = Clock::now();
  const auto after = [start](std::chrono::seconds limit) {
    return start + (limit > 0s ? limit : std::chrono::hours(24 * 365));
  };
  const Clock::time_point end = after(options.limit), last = after(options.crash_point_limit);
  const auto time_left = [&] {
    const Clock::time_point now = Clock::now();
    if (now > last) return now > end ? Turns::TimeLeft::kForStories : Turns::TimeLeft::kForOthers;
    return now > end ? Turns::TimeLeft::kForCrashPoints : Turns::TimeLeft::kForAll;
  };
  Turns turns(tasks, scenarios.size(), options);
  struct Begun {
    Batch batch;
    Clock::time_point at;
  };
  std::deque<Begun> begun;
  Collector collector(scenarios, tasks, options);
  const std::size_t enough = options.stop_at_first ? 1 : kMaxFailures;
  Crew crew(options.jobs);
  const auto begin = [&](Batch batch) {
    begun.push_back({std::move(batch), Clock::now()});
    crew.start(begun.size() - 1, [&](const Crew::Say& say) {
      const Batch& mine = begun.back().batch;
      play_batch(scenarios[static_cast<std::size_t>(mine.common.scenario)], mine, options, end,
                 say);
    });
  };
  while (collector.report.failures.size() < enough) {
    while (crew.has_room()) {
      std::optional<Batch> next = turns.take(time_left());
      if (!next) break;
      begin(std::move(*next));
    }
    if (crew.is_idle()) break;
    for (const Crew::News& news : crew.wait()) {
      const Begun& of = begun[news.number];
      if (news.ended) turns.add_time(of.batch.common.scenario, Clock::now() - of.at);
      if (std::optional<Batch> again = collector.take(of.batch, news))
        turns.take_back(std::move(*again));
    }
  }
  CampaignReport report = std::move(collector.report);
  for (const Task& task : tasks) {
    if (std::ranges::find(report.kinds, task.kind) == report.kinds.end())
      report.kinds.push_back(task.kind);
    ++report.there_are[task.kind];
  }
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return report;
}

std::string replay_line(const Scenario& scenario, const Task& task, const std::string& bug) {
  std::string line = fmt::format("berth-sim --scenario {} --seed {}", scenario.name, task.seed);
  if (!task.schedule.empty()) line += " --schedule " + task.schedule;
  if (task.day) line += " --day";
  if (!bug.empty()) line += " --bug " + bug;
  return line;
}

std::string print_table(const CampaignReport& report) {
  std::string text = fmt::format("{:<22}", "scenario");
  for (const std::string& kind : report.kinds) text += fmt::format("{:>9}", kind);
  text += "\n";
  std::map<std::string, int> totals;
  for (const auto& [scenario, counts] : report.counts) {
    text += fmt::format("{:<22}", scenario);
    for (const std::string& kind : report.kinds) {
      const auto found = counts.find(kind);
      const int count = found == counts.end() ? 0 : found->second;
      totals[kind] += count;
      text += fmt::format("{:>9}", count);
    }
    text += "\n";
  }
  text += fmt::format("{:<22}", "total");
  for (const std::string& kind : report.kinds) text += fmt::format("{:>9}", totals[kind]);
  text += fmt::format("\n{:<22}", "there are");
  for (const std::string& kind : report.kinds)
    text += kind == kRandomKind ? fmt::format("{:>9}", "no end")
                                : fmt::format("{:>9}", report.there_are.at(kind));
  return text + fmt::format(
                    "\n{} schedules of {} scenarios in {:.1f} s: {:.0f} a minute, {:.0f} "
                    "simulated seconds each second; {} failed\n",
                    report.schedules, report.counts.size(), report.seconds, report.per_minute(),
                    report.time_ratio(), report.failures.size());
}

}  // namespace berth::explore
