// SPDX-License-Identifier: Apache-2.0
// Outline: plan_campaign makes the list, run_campaign deals it out to processes, each of which
// writes a line for every schedule into its pipe.
#include "tests/explore/campaign.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "controller/sim/random.h"
#include "tests/explore/exploration.h"
#include "tests/explore/schedule.h"

namespace berth::explore {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int kMaxFailures = 10;  // of one process: more say nothing new

struct Child {
  pid_t pid = 0;
  int pipe = -1;
  std::string rest;  // of a line
};

RunReport run_task(const std::vector<Scenario>& scenarios, const Task& task,
                   const CampaignOptions& options) {
  RunOptions run;
  run.seed = task.seed;
  run.steps = options.steps;
  if (task.day) {
    run.quiet = 24h;
    run.steps *= 10;
  }
  Result<Schedule> schedule = parse_schedule(task.schedule);
  if (!schedule) {
    RunReport report;
    report.failure = describe(schedule.error());
    return report;
  }
  return explore(scenarios[static_cast<std::size_t>(task.scenario)], *schedule, run);
}

void write_all(int pipe, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t wrote = ::write(pipe, text.data() + at, text.size() - at);
    if (wrote <= 0) std::_Exit(1);
    at += static_cast<std::size_t>(wrote);
  }
}

// Every `jobs`th task. Announces each before it starts, so that a crash is told of too.
void work(const std::vector<Scenario>& scenarios, const std::vector<Task>& tasks,
          const CampaignOptions& options, int job, int pipe, Clock::time_point end) {
  int failures = 0;
  for (std::size_t i = static_cast<std::size_t>(job); i < tasks.size();
       i += static_cast<std::size_t>(options.jobs)) {
    if (Clock::now() > end) break;
    write_all(pipe, fmt::format("S {}\n", i));
    RunReport report = run_task(scenarios, tasks[i], options);
    std::ranges::replace(report.failure, '\n', ' ');
    write_all(pipe, fmt::format("E {} {} {}\n", i, report.simulated / 1ms, report.failure));
    if (report.failure.empty()) continue;
    if (options.stop_at_first || ++failures >= kMaxFailures) break;
  }
}

Child start_child(const std::vector<Scenario>& scenarios, const std::vector<Task>& tasks,
                  const CampaignOptions& options, int job, Clock::time_point end) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  Child child;
  child.pid = ::fork();
  if (child.pid < 0) std::abort();
  if (child.pid == 0) {
    ::close(ends[0]);
    work(scenarios, tasks, options, job, ends[1], end);
    std::fflush(nullptr);
    std::_Exit(0);
  }
  ::close(ends[1]);
  child.pipe = ends[0];
  return child;
}

class Collector {
 public:
  Collector(const std::vector<Scenario>& scenarios, const std::vector<Task>& tasks)
      : scenarios_(scenarios), tasks_(tasks) {}

  void take(Child& child, std::string_view text) {
    child.rest += text;
    for (std::size_t end; (end = child.rest.find('\n')) != std::string::npos;
         child.rest.erase(0, end + 1))
      take_line(child, child.rest.substr(0, end));
  }
  // The process has ended in the middle of a task.
  void take_end(const Child& child, int status) {
    const auto under_way = under_way_.find(child.pid);
    if (under_way == under_way_.end()) return;
    fail(under_way->second, WIFSIGNALED(status)
                                ? fmt::format("the process died of signal {}", WTERMSIG(status))
                                : fmt::format("the process ended: {}", WEXITSTATUS(status)));
  }
  CampaignReport report;

 private:
  void take_line(const Child& child, const std::string& line) {
    std::istringstream words(line.substr(2));
    std::size_t index = 0;
    words >> index;
    if (line.starts_with("S ")) {
      under_way_[child.pid] = index;
      return;
    }
    under_way_.erase(child.pid);
    std::int64_t simulated_ms = 0;
    words >> simulated_ms;
    words.get();
    std::string failure;
    std::getline(words, failure);
    const Task& task = tasks_[index];
    ++report.counts[name_of(task)][task.kind];
    ++report.schedules;
    report.simulated_seconds += static_cast<double>(simulated_ms) / 1000;
    if (!failure.empty()) fail(index, failure);
  }
  void fail(std::size_t index, const std::string& what) {
    report.failures.push_back({tasks_[index], what, std::max(1, report.schedules)});
  }
  const std::string& name_of(const Task& task) const {
    return scenarios_[static_cast<std::size_t>(task.scenario)].name;
  }

  const std::vector<Scenario>& scenarios_;
  const std::vector<Task>& tasks_;
  std::map<pid_t, std::size_t> under_way_;
};

void shuffle(std::vector<Task>& tasks, std::uint64_t seed) {
  sim::Random random(seed);
  for (std::size_t i = tasks.size(); i > 1; --i) std::swap(tasks[i - 1], tasks[random.below(i)]);
}

void add_random(std::vector<Task>& tasks, std::size_t up_to, int scenarios, std::uint64_t seed) {
  for (int number = 1; tasks.size() < up_to; ++number) {
    const char* replicas[] = {"", "berths:2,", "berths:3,"};
    Task task;
    task.scenario = number % scenarios;
    task.kind = "random";
    task.seed = seed + static_cast<std::uint64_t>(number);
    task.schedule = fmt::format("{}random:{}:{}", replicas[(number / scenarios) % 3], number,
                                number / scenarios % 2 == 0 ? "net" : "all");
    tasks.push_back(std::move(task));
  }
}

}  // namespace

std::vector<Task> plan_campaign(const std::vector<Scenario>& scenarios,
                                const CampaignOptions& options) {
  constexpr std::size_t kEndless = 10'000'000;
  std::vector<Task> first;  // without faults
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    const Task base{
        .scenario = static_cast<int>(i), .kind = "none", .schedule = "", .seed = options.seed};
    first.push_back(base);
    const RunReport report = run_task(scenarios, base, options);
    if (options.days) {
      first.push_back(base);
      first.back().kind = "day";
      first.back().day = true;
    }
    for (const Kind& kind : enumerate_schedules(scenarios[i], report.footprint))
      for (const std::string& schedule : kind.schedules)
        tasks.push_back({.scenario = static_cast<int>(i),
                         .kind = kind.name,
                         .schedule = schedule,
                         .seed = options.seed});
  }
  const std::size_t budget =
      options.budget > 0 ? static_cast<std::size_t>(options.budget)
                         : (options.limit > 0min ? kEndless / 10 : tasks.size() + first.size());
  shuffle(tasks, options.seed);
  const std::size_t room = budget > first.size() ? budget - first.size() : 0;
  if (tasks.size() > room) tasks.resize(room);
  add_random(tasks, room, static_cast<int>(scenarios.size()), options.seed);
  tasks.insert(tasks.begin(), first.begin(), first.end());
  return tasks;
}

CampaignReport run_campaign(const std::vector<Scenario>& scenarios, const std::vector<Task>& tasks,
                            const CampaignOptions& options) {
  const Clock::time_point start = Clock::now();
  const Clock::time_point end =
      options.limit > 0min ? start + options.limit : start + std::chrono::hours(24 * 365);
  Collector collector(scenarios, tasks);
  std::vector<Child> children;
  for (int job = 0; job < options.jobs; ++job)
    children.push_back(start_child(scenarios, tasks, options, job, end));
  while (!children.empty()) {
    std::vector<pollfd> polled;
    for (const Child& child : children) polled.push_back({child.pipe, POLLIN, 0});
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;
    for (std::size_t i = polled.size(); i-- > 0;) {
      if (polled[i].revents == 0) continue;
      char buffer[65536];
      const ssize_t got = ::read(children[i].pipe, buffer, sizeof buffer);
      if (got > 0) {
        collector.take(children[i], std::string_view(buffer, static_cast<std::size_t>(got)));
        continue;
      }
      int status = 0;
      ::waitpid(children[i].pid, &status, 0);
      collector.take_end(children[i], status);
      ::close(children[i].pipe);
      children.erase(children.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (options.stop_at_first && !collector.report.failures.empty()) {
      for (const Child& child : children) {
        ::kill(child.pid, SIGKILL);
        ::waitpid(child.pid, nullptr, 0);
        ::close(child.pipe);
      }
      children.clear();
    }
  }
  CampaignReport report = std::move(collector.report);
  for (const Task& task : tasks)
    if (std::ranges::find(report.kinds, task.kind) == report.kinds.end())
      report.kinds.push_back(task.kind);
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
  return text + fmt::format(
                    "\n{} schedules of {} scenarios in {:.1f} s: {:.0f} a minute, {:.0f} "
                    "simulated seconds each second; {} failed\n",
                    report.schedules, report.counts.size(), report.seconds, report.per_minute(),
                    report.time_ratio(), report.failures.size());
}

}  // namespace berth::explore
