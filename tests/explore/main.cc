// SPDX-License-Identifier: Apache-2.0
// berth-sim: fault exploration from the command line.
//   berth-sim --scenario X [--seed N] [--steps M] [--schedule S] [--day] [--transcript]
//   berth-sim --all [--budget N] [--seconds S] [--jobs J] [--long] [--json] [--known FILE]
//             [--crash-point-seconds S]
//   berth-sim --bug NAME …         with a seeded bug
//   berth-sim --bugs [--budget N] [--recorded FILE]
//                                  each seeded bug, or the one that --bug names, must be found: by
// the
//                                  recorded line in FILE (docs/seeded-bugs.md), if it still shows
// the
//                                  bug, else by a search
//   berth-sim --regressions FILE   one replay line each
//   berth-sim --tenant FILE [--writes N] [--seed N] [--transcript]
//                                  a random tenant in that scenario (tenant_run.h)
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "controller/core/seeded_bugs.h"
#include "tests/explore/campaign.h"
#include "tests/explore/exploration.h"
#include "tests/explore/tenant_run.h"

namespace berth::explore {
namespace {

struct Arguments {
  std::string scenario, schedule, bug, regressions, known, recorded, tenant;
  std::int64_t writes = 10'000;
  std::string folder = BERTH_SCENARIOS;
  CampaignOptions campaign;
  bool all = false, bugs = false, json = false, day = false, transcript = false;
};

[[noreturn]] void refuse(const std::string& why) {
  std::cerr << "berth-sim: " << why << "\n";
  std::exit(2);
}

std::int64_t number(const std::string& flag, const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    refuse(flag + " takes a whole number, not " + text);
  return value;
}

Arguments parse(std::vector<std::string> words) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& flag = words[i];
    const auto value = [&]() -> const std::string& {
      if (i + 1 == words.size()) refuse(flag + " needs a value");
      return words[++i];
    };
    if (flag == "--scenario")
      arguments.scenario = value();
    else if (flag == "--schedule" || flag == "--at")
      arguments.schedule = value();
    else if (flag == "--bug")
      arguments.bug = value();
    else if (flag == "--regressions")
      arguments.regressions = value();
    else if (flag == "--known")
      arguments.known = value();
    else if (flag == "--tenant")
      arguments.tenant = value();
    else if (flag == "--writes")
      arguments.writes = number(flag, value());
    else if (flag == "--recorded")
      arguments.recorded = value();
    else if (flag == "--scenarios")
      arguments.folder = value();
    else if (flag == "--seed")
      arguments.campaign.seed = static_cast<std::uint64_t>(number(flag, value()));
    else if (flag == "--steps")
      arguments.campaign.steps = number(flag, value());
    else if (flag == "--budget")
      arguments.campaign.budget = static_cast<int>(number(flag, value()));
    else if (flag == "--jobs")
      arguments.campaign.jobs = static_cast<int>(std::max<std::int64_t>(1, number(flag, value())));
    else if (flag == "--seconds")
      arguments.campaign.limit = std::chrono::seconds(number(flag, value()));
    else if (flag == "--crash-point-seconds")
      arguments.campaign.crash_point_limit = std::chrono::seconds(number(flag, value()));
    else if (flag == "--long")
      arguments.all = true, arguments.campaign.limit = std::chrono::hours(4);
    else if (flag == "--no-days")
      arguments.campaign.days = false;
    else if (flag == "--all")
      arguments.all = true;
    else if (flag == "--bugs")
      arguments.bugs = true;
    else if (flag == "--json")
      arguments.json = true;
    else if (flag == "--day")
      arguments.day = true;
    else if (flag == "--transcript")
      arguments.transcript = true;
    else
      refuse("does not know " + flag);
  }
  return arguments;
}

Scenario load(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Result<Scenario> scenario = parse_scenario(text, path.string());
  if (!file || !scenario)
    refuse(scenario ? path.string() + " is unreadable" : scenario.error().message);
  scenario->name = path.stem().string();
  return std::move(scenario).value();
}

std::vector<Scenario> load_all(const Arguments& arguments) {
  if (!arguments.scenario.empty())
    return {load(arguments.scenario.ends_with(".yaml")
                     ? std::filesystem::path(arguments.scenario)
                     : std::filesystem::path(arguments.folder) / (arguments.scenario + ".yaml"))};
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(arguments.folder))
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<Scenario> scenarios;
  for (const auto& path : paths) scenarios.push_back(load(path));
  return scenarios;
}

void switch_on(const std::string& name) {
  if (name.empty()) return;
#ifdef BERTH_SEEDED_BUGS
  for (const auto& [known, bug] : kSeededBugs)
    if (known == name) return void(seeded_bug = bug);
  refuse("knows no bug " + name);
#else
  refuse("has been built without seeded bugs");
#endif
}

void switch_off() {
#ifdef BERTH_SEEDED_BUGS
  seeded_bug = SeededBug::kNone;
#endif
}

int replay(const Arguments& arguments) {
  const Scenario scenario = load_all(arguments).front();
  Result<Schedule> schedule = parse_schedule(arguments.schedule);
  if (!schedule) refuse(describe(schedule.error()));
  switch_on(arguments.bug);
  RunOptions options{.seed = arguments.campaign.seed, .steps = arguments.campaign.steps};
  if (arguments.day) options.quiet = std::chrono::hours(24), options.steps *= 10;
  if (arguments.transcript)
    options.transcript = [](const std::string& line) { std::cout << line << "\n"; };
  const RunReport report = explore(scenario, *schedule, options);
  const Footprint& footprint = report.footprint;
  std::cout << fmt::format("{} simulated s, {} steps, {} writes, {} requests, {} frames\n",
                           report.simulated / std::chrono::seconds(1), report.steps,
                           footprint.writes.size(), footprint.requests.size(), footprint.frames);
  if (report.failure.empty()) return 0;
  const Task task{.schedule = arguments.schedule, .seed = options.seed, .day = arguments.day};
  std::cout << report.failure << "\n" << replay_line(scenario, task, arguments.bug) << "\n";
  return 1;
}

std::string to_json(const CampaignReport& report) {
  return fmt::format(
      R"({{"schedules":{},"scenarios":{},"seconds":{:.2f},"per_min":{:.1f},"time_ratio":{:.1f},"failures":{}}})",
      report.schedules, report.counts.size(), report.seconds, report.per_minute(),
      report.time_ratio(), report.failures.size());
}

// The replay lines of known findings: they are reported each time and fail no run until they are
// fixed.
std::set<std::string> load_known(const std::string& path) {
  std::set<std::string> lines;
  if (path.empty()) return lines;
  std::ifstream file(path);
  if (!file) refuse(path + " cannot be read");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("berth-sim ")) lines.insert(line);
  return lines;
}

int run_all(const Arguments& arguments) {
  const std::set<std::string> known = load_known(arguments.known);
  const std::vector<Scenario> scenarios = load_all(arguments);
  const std::vector<Task> tasks = plan_campaign(scenarios, arguments.campaign);
  switch_on(arguments.bug);
  CampaignOptions options = arguments.campaign;
  options.stop_at_first = !arguments.bug.empty();
  const CampaignReport report = run_campaign(scenarios, tasks, options);
  std::cout << (arguments.json ? to_json(report) + "\n" : print_table(report));
  int unknown = 0;
  for (const Failure& failure : report.failures) {
    const Scenario& scenario = scenarios[static_cast<std::size_t>(failure.task.scenario)];
    const std::string line = replay_line(scenario, failure.task, arguments.bug);
    unknown += !known.contains(line);
    std::cerr << (known.contains(line) ? "known: " : "") << failure.what << "\n  " << line << "\n";
  }
  return unknown == 0 ? 0 : 1;
}

// Finds the bug: a schedule that fails with it and holds without it.
std::optional<Failure> find_bug(const std::string& name, const std::vector<Scenario>& scenarios,
                                const std::vector<Task>& tasks, CampaignOptions options) {
  CampaignOptions without = options;
  without.jobs = 1;
  options.is_wanted = [&](const Failure& failure) {
    switch_off();
    const bool holds = run_campaign(scenarios, {failure.task}, without).failures.empty();
    switch_on(name);
    return holds;
  };
  switch_on(name);
  const CampaignReport report = run_campaign(scenarios, tasks, options);
  switch_off();
  if (report.failures.empty()) return std::nullopt;
  return report.failures.front();
}

// The failure without the parts that differ between runs.
std::string brief(const std::string& what) {
  return what.substr(
      0, std::min({what.find(" ["), what.find(" ("), what.find(": {"), what.find("; ")}));
}

// The tasks of the file's lines "`berth-sim … --bug NAME`", by the bug's name.
std::map<std::string, Task> load_recorded(const std::string& path,
                                          const std::vector<Scenario>& scenarios) {
  std::map<std::string, Task> tasks;
  if (path.empty()) return tasks;
  std::ifstream file(path);
  if (!file) refuse(path + " cannot be read");
  for (std::string line; std::getline(file, line);) {
    const std::size_t start = line.find("`berth-sim --scenario ");
    if (start == std::string::npos) continue;
    std::istringstream text(line.substr(start + 11, line.find('`', start + 1) - start - 11));
    const Arguments one = parse({std::istream_iterator<std::string>(text), {}});
    const auto scenario = std::ranges::find(scenarios, one.scenario, &Scenario::name);
    if (scenario == scenarios.end()) continue;  // it was renamed
    tasks[one.bug] = {.scenario = static_cast<int>(scenario - scenarios.begin()),
                      .kind = one.schedule.empty() ? kStoryKind : "recorded",
                      .schedule = one.schedule,
                      .seed = one.campaign.seed,
                      .day = one.day};
  }
  return tasks;
}

// Each bug must be found within the budget; the table says how.
int run_bugs(const Arguments& arguments) {
  const std::vector<Scenario> scenarios = load_all(arguments);
  CampaignOptions options = arguments.campaign;
  options.days = false;
  options.stop_at_first = true;
  const std::map<std::string, Task> recorded = load_recorded(arguments.recorded, scenarios);
  std::vector<Task> tasks;  // planned when a bug needs a search, which runs every scenario
  std::cout << "| bug | found by | after schedules | replay |\n|---|---|---|---|\n" << std::flush;
  int missed = 0;
  for (const auto& [name, bug] : kSeededBugs) {
    if (!arguments.bug.empty() && arguments.bug != name) continue;
    std::optional<Failure> found;
    if (const auto known = recorded.find(std::string(name)); known != recorded.end())
      found = find_bug(std::string(name), scenarios, {known->second}, options);
    const bool is_recorded = found.has_value();
    if (!is_recorded) {
      if (tasks.empty()) tasks = plan_campaign(scenarios, options);
      found = find_bug(std::string(name), scenarios, tasks, options);
    }
    missed += !found;
    if (!found) {
      std::cout << fmt::format("| `{}` | nothing | {} | |\n", name, tasks.size()) << std::flush;
      continue;
    }
    const Scenario& scenario = scenarios[static_cast<std::size_t>(found->task.scenario)];
    std::cout << fmt::format("| `{}` | {} | {} | `{}` |\n", name, brief(found->what),
                             is_recorded ? "recorded" : std::to_string(found->after),
                             replay_line(scenario, found->task, std::string(name)))
              << std::flush;
  }
  return missed == 0 ? 0 : 1;
}

// Earlier findings must not come back.
int run_regressions(const Arguments& arguments) {
  std::ifstream file(arguments.regressions);
  if (!file) refuse(arguments.regressions + " cannot be read");
  int failed = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    std::istringstream text(line.substr(line.find("--")));
    std::vector<std::string> words{std::istream_iterator<std::string>(text), {}};
    Arguments one = parse(words);
    one.folder = arguments.folder;
    failed += replay(one);
  }
  return failed == 0 ? 0 : 1;
}

int run_tenant(const Arguments& arguments) {
  std::function<void(const std::string&)> transcript;
  if (arguments.transcript) transcript = [](const std::string& line) { std::cout << line << "\n"; };
  switch_on(arguments.bug);
  const TenantReport report =
      play_tenant(load(arguments.tenant), arguments.campaign.seed, arguments.writes, transcript);
  std::cout << fmt::format("{} writes, at most {} GPUs held, the other team asked {} times\n",
                           report.writes, report.most_held, report.rounds);
  if (report.failure.empty()) return 0;
  std::cout << report.failure << "\n"
            << fmt::format("berth-sim --tenant {} --writes {} --seed {}\n", arguments.tenant,
                           report.writes, arguments.campaign.seed);
  return 1;
}

int run(const Arguments& arguments) {
  if (!arguments.tenant.empty()) return run_tenant(arguments);
  if (!arguments.regressions.empty()) return run_regressions(arguments);
  if (arguments.bugs) return run_bugs(arguments);
  if (arguments.all) return run_all(arguments);
  if (arguments.scenario.empty())
    refuse("needs --scenario NAME, --all, --bugs, --regressions or --tenant");
  return replay(arguments);
}

}  // namespace
}  // namespace berth::explore

int main(int argc, char** argv) {
  // Runs are short and similar: the next one reuses the memory of the last.
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 16 << 20);
  return berth::explore::run(berth::explore::parse({argv + 1, argv + argc}));
}
