// SPDX-License-Identifier: Apache-2.0
// Transcript: a scenario run as a story, a line for each thing that somebody who follows it wants
// to know: what people and machines do, what berth does and why it waits, what nodes then offer.
// Same scenario, same seed, same bytes.
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
  std::chrono::milliseconds at;  // simulated, since the timeline began
  std::string subject;
  std::string text;
};
// "00:01:12  n3                  cordoned by berth for layout inference (slot 1 of 1)"
std::string format(const TranscriptEntry& entry);

class Transcript {
 public:
  // Entries are handed to `on_entry` when they are so old, simulated: steps that belong together,
  // such as a device plugin's, come within this time. Once an object has changed, none is left that
  // is older.
  static constexpr std::chrono::seconds kHeld{2};

  // Listens from now on; it must not die before the run's last step, nor outlive it. `on_entry` may
  // be empty.
  Transcript(ScenarioRun& run, std::function<void(const TranscriptEntry&)> on_entry);
  ~Transcript();
  Transcript(const Transcript&) = delete;
  Transcript& operator=(const Transcript&) = delete;

  // The run is over: hands over what is left.
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
  std::set<std::string> refused_;              // evictions whose refusal has been told
  std::map<std::string, std::string> latest_;  // by subject: a line is not told twice running
};

}  // namespace berth
