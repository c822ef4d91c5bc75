// SPDX-License-Identifier: Apache-2.0
// Campaign: many schedules of many scenarios, in several processes at once, and their results.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "controller/scenario/scenario.h"

namespace berth::explore {

struct Task {
  int scenario = 0;
  std::string kind;  // a column of the table
  std::string schedule;
  std::uint64_t seed = 1;
  bool day = false;
};

// A scenario without faults, and a crash at one of berth's writes.
inline constexpr const char* kStoryKind = "none";
inline constexpr const char* kCrashPointKind = "write";

struct Failure {
  Task task;
  std::string what;
  int after = 0;  // schedules that were run before it
};

struct CampaignOptions {
  std::uint64_t seed = 1;
  std::int64_t steps = 3'000'000;
  int jobs = 2;
  // The number of schedules, a fair sample of all. 0: all of them, the crash points first.
  int budget = 0;
  // When to stop. The crash points come first and are all run, unless there is a budget, or a limit
  // of their own, after which the others get the rest of the time (the table shows how many were
  // run). Random schedules come after all others. 0: no limit.
  std::chrono::seconds limit{0};
  std::chrono::seconds crash_point_limit{0};
  bool days =
      true;  // begin with a simulated day of each scenario except those of certificates and GPUs
  bool stop_at_first = false;
  std::function<bool(const Failure&)> is_wanted;  // drops other failures; empty: keep all
};

struct CampaignReport {
  std::map<std::string, std::map<std::string, int>> counts;  // scenario → kind → schedules
  std::map<std::string, int> there_are;                      // kind → schedules, also not reached
  std::vector<std::string> kinds;                            // columns, in order
  std::vector<Failure> failures;
  int schedules = 0;
  double seconds = 0;
  double simulated_seconds = 0;
  double per_minute() const { return seconds > 0 ? 60 * schedules / seconds : 0; }
  double time_ratio() const { return seconds > 0 ? simulated_seconds / seconds : 0; }
};

std::vector<Task> plan_campaign(const std::vector<Scenario>& scenarios,
                                const CampaignOptions& options);
CampaignReport run_campaign(const std::vector<Scenario>& scenarios, const std::vector<Task>& tasks,
                            const CampaignOptions& options);

// The command that runs a task again.
std::string replay_line(const Scenario& scenario, const Task& task, const std::string& bug);
std::string print_table(const CampaignReport& report);

}  // namespace berth::explore
