// SPDX-License-Identifier: Apache-2.0
// Fold: adds a round to the samples of earlier rounds. It derives what takes more than one round:
// since when a GPU has been quiet, when an error occurred, when the GPU was too hot.
#pragma once

#include <map>
#include <string>

#include "controller/core/samples.h"
#include "controller/observe/round.h"

namespace berth {

struct FoldRules {
  Time now{};
  Duration interval{};
  std::int32_t threshold = 0;        // percent; if it changes, all idle windows start again
  std::int32_t max_temperature = 0;  // degrees Celsius; if it changes, hot periods start again
};
void fold(const Round& round, const ClusterState& cluster, const FoldRules& rules,
          Samples& samples);

// Adds the replies of the nodes' own exporters, after the fold() of the same time. `silences`: by
// node, why an exporter that berth asked did not answer.
void fold_witnesses(const Round& round, const std::map<std::string, std::string>& silences,
                    const ClusterState& cluster, const FoldRules& rules, Samples& samples);

// Returns the most that a GPU draws while it is idle, in watts. A GPU that draws more is at work,
// whatever its counters say.
double idle_power_w(std::string_view model);

}  // namespace berth
