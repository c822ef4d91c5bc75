// SPDX-License-Identifier: Apache-2.0
// RolloutTimes: how long each node was out of service in a run, and in which steps.
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
  Span taken{0};   // since the start of the timeline
  Span drain{0};   // from the cordon to the write of the label
  Span agent{0};   // until mig-manager's last state
  Span verify{0};  // until the end
  End end = End::kStillOut;
  Span total() const { return drain + agent + verify; }
};
const char* to_string(NodeOut::End end);
// From the first node taken out of service to the last one returned; zero if there was none.
std::chrono::milliseconds wall_of(const std::vector<NodeOut>& outs);

class RolloutTimes {
 public:
  // Observes the run from now on; both must live until the run's last step.
  explicit RolloutTimes(ScenarioRun& run);

  // In the order of the cordons, once for each time. Nodes that are still out of service count
  // until now.
  std::vector<NodeOut> all() const;

 private:
  void on_node(const sim::Change& change);
  std::chrono::milliseconds now() const;

  ScenarioRun& run_;
  struct Under {
    std::size_t index;                // in outs_
    std::chrono::milliseconds label;  // when the label was written; negative: not yet
    std::chrono::milliseconds said;   // when mig-manager last set its state; negative: never
  };
  std::vector<NodeOut> outs_;
  std::map<std::string, Under> under_way_;
};

}  // namespace berth
