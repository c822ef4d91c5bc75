// SPDX-License-Identifier: Apache-2.0
// StoryRecorder: records the page's states during a scenario's run. A line of the transcript
// arrives some time after its change, so later changes wait for their own lines.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>

#include "controller/core/cluster_state.h"
#include "controller/page/page_story.h"
#include "controller/scenario/run_report.h"
#include "controller/sim/world/store.h"

namespace berth {

class StoryRecorder {
 public:
  // The scenario must outlive it.
  StoryRecorder(const Scenario& scenario, std::string title)
      : scenario_(scenario), title_(std::move(title)) {}
  StoryRecorder(const StoryRecorder&) = delete;

  // Call it before the run; records until the run is over.
  void follow(ScenarioRun& run);
  void hear(const TranscriptEntry& entry);
  // The page's document; call it when the run is over and its report is complete.
  std::string print();

 private:
  struct Coming {
    std::chrono::milliseconds at;  // since the start of the timeline
    Time when;
    sim::Change change;
  };

  void see(const sim::Change& change);
  // Applies the changes up to that time.
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
