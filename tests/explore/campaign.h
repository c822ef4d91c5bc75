// SPDX-License-Identifier: Apache-2.0
// Campaign: many schedules of many scenarios, on several processes at once, and what came of them.
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
  int after = 0;  // schedules that were run by then
};

struct CampaignOptions {
  std::uint64_t seed = 1;
  std::int64_t steps = 3'000'000;
  int jobs = 2;
  // Schedules in all, a fair sample of those there are. 0: every one there is, the crash points
  // first.
  int budget = 0;
  // When to stop, but for the crash points: they come first and are played to the last one, unless
  // there is a budget, or they have a limit of their own, from which on the others have what is
  // left of the time (the table says how many were played). There are random schedules once the
  // others are through. 0: none.
  std::chrono::seconds limit{0};
  std::chrono::seconds crash_point_limit{0};
  bool days =
      true;  // begin with a simulated day of each scenario but those of certificates and GPUs
  bool stop_at_first = false;
  std::function<bool(const Failure&)> is_wanted;  // others are forgotten; empty: each is wanted
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

// The line that plays a task again.
std::string replay_line(const Scenario& scenario, const Task& task, const std::string& bug);
std::string print_table(const CampaignReport& report);

}  // namespace berth::explore
