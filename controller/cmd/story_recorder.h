// SPDX-License-Identifier: Apache-2.0
// StoryRecorder: what a scenario's run looks like on the page, while its story is told. A line is
// heard some time after it came about: what has changed since then waits for its own.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>

#include "controller/core/cluster_state.h"
#include "controller/page/page_story.h"
#include "controller/scenario/run_report.h"
#include "controller/sim/store.h"

namespace berth {

class StoryRecorder {
 public:
  // It must not outlive the run's scenario.
  StoryRecorder(const Scenario& scenario, std::string title)
      : scenario_(scenario), title_(std::move(title)) {}
  StoryRecorder(const StoryRecorder&) = delete;

  // From now on, until the run is over.
  void follow(ScenarioRun& run);
  void hear(const TranscriptEntry& entry);
  // The page's document, once the run is over and its report is there.
  std::string print();

 private:
  struct Coming {
    std::chrono::milliseconds at;  // since the timeline began
    Time when;
    sim::Change change;
  };

  void see(const sim::Change& change);
  // Takes in what had changed by then.
  void catch_up(std::chrono::milliseconds until);
  PageState state() const;

  const Scenario& scenario_;
  const std::string title_;
  ClusterState cluster_;
  Time now_{};
  std::deque<Coming> coming_;
  ScenarioRun* run_ = nullptr;
  std::optional<PageStory> story_;
};

}  // namespace berth
