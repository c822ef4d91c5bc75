// SPDX-License-Identifier: Apache-2.0
// RolloutTimes: how long each node was out in a run, and for what, from the store's changes.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "controller/scenario/scenario_run.h"

namespace berth {

struct NodeOut {
  using Span = std::chrono::milliseconds;
  enum class End { kRepartitioned, kRolledBack, kPutBack, kFailed, kGone, kStillOut };
  std::string node;
  std::string layout;
  Span taken{0};   // since the timeline began
  Span drain{0};   // from the cordon to the label's write
  Span agent{0};   // to mig-manager's last word
  Span verify{0};  // to the end
  End end = End::kStillOut;
  Span total() const { return drain + agent + verify; }
};
const char* to_string(NodeOut::End end);
// From the first taking to the last return; zero if none was taken.
std::chrono::milliseconds wall_of(const std::vector<NodeOut>& outs);

class RolloutTimes {
 public:
  // Listens from now on; both live until the run's last step.
  explicit RolloutTimes(ScenarioRun& run);

  // In the order they were taken; a node stands there as often as it was. Those still out are
  // counted up to now.
  std::vector<NodeOut> all() const;

 private:
  void on_node(const sim::Change& change);
  std::chrono::milliseconds now() const;

  ScenarioRun& run_;
  struct Under {
    std::size_t index;                // in outs_
    std::chrono::milliseconds label;  // when it was written; negative: not yet
    std::chrono::milliseconds said;   // mig-manager's last word; negative: none
  };
  std::vector<NodeOut> outs_;
  std::map<std::string, Under> under_way_;
};

}  // namespace berth
