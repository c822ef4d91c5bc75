// SPDX-License-Identifier: Apache-2.0
// Transcript: a scenario run as lines of text for a user who follows it: what users and machines
// do, what berth does and why it waits, and what nodes then offer. The same scenario and seed give
// the same bytes.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "controller/scenario/scenario_run.h"
#include "controller/scenario/story.h"

namespace berth {

struct TranscriptEntry {
  std::chrono::milliseconds at;  // simulated time since the start of the timeline
  std::string subject;
  std::string text;
};
// "00:01:12  n3                  cordoned by berth for layout inference (slot 1 of 1)"
std::string format(const TranscriptEntry& entry);

class Transcript {
 public:
  // Entries are passed to `on_entry` when they are this old in simulated time, because steps that
  // belong together, such as a device plugin's, happen within this time. After a change of an
  // object no older entry is left.
  static constexpr std::chrono::seconds kHeld{2};

  // Observes the run from now on. It must live until the run's last step, but must not outlive the
  // run. `on_entry` may be empty.
  Transcript(ScenarioRun& run, std::function<void(const TranscriptEntry&)> on_entry);
  ~Transcript();
  Transcript(const Transcript&) = delete;
  Transcript& operator=(const Transcript&) = delete;

  // The run is over: passes on the remaining entries.
  void finish();
  const std::vector<TranscriptEntry>& entries() const { return entries_; }

 private:
  void add(std::string subject, std::string text);
  std::chrono::milliseconds elapsed() const;
  void hand_over(std::chrono::milliseconds until);
  void hear_log(const std::string& berth, const std::string& line);
  void hear_refusal(const HttpRequest& request, int code);
  std::string budgets_of(const std::string& namespace_, const std::string& pod) const;

  ScenarioRun& run_;
  std::function<void(const TranscriptEntry&)> on_entry_;
  std::deque<TranscriptEntry> held_;
  std::vector<TranscriptEntry> entries_;
  std::set<std::string> refused_;              // evictions whose refusal has been reported
  std::map<std::string, std::string> latest_;  // by subject: a line is not repeated directly
};

}  // namespace berth
