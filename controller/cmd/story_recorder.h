// SPDX-License-Identifier: Apache-2.0
// StoryRecorder: what a scenario's run looks like on the page, while its story is told.
#pragma once

#include <optional>
#include <string>

#include "controller/core/cluster_state.h"
#include "controller/page/page_story.h"
#include "controller/scenario/run_report.h"

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
  PageState state() const;

  const Scenario& scenario_;
  const std::string title_;
  ClusterState cluster_;
  Time now_{};
  ScenarioRun* run_ = nullptr;
  std::optional<PageStory> story_;
};

}  // namespace berth
