// SPDX-License-Identifier: Apache-2.0
// Fold: adds a round to what earlier rounds have left. What needs more than one look is made here:
// since when a GPU has been quiet, when an error came, when it was too hot.
#pragma once

#include <map>
#include <string>

#include "controller/core/samples.h"
#include "controller/observe/round.h"

namespace berth {

struct FoldRules {
  Time now{};
  Duration interval{};
  std::int32_t threshold = 0;        // percent; of another one than before, all windows begin anew
  std::int32_t max_temperature = 0;  // degrees Celsius; of another one, heat is timed again
};
void fold(const Round& round, const ClusterState& cluster, const FoldRules& rules,
          Samples& samples);

// Adds what nodes' own exporters said when they were asked, after the fold() of the same time.
// `silences` says of the others that were asked why they did not answer.
void fold_witnesses(const Round& round, const std::map<std::string, std::string>& silences,
                    const ClusterState& cluster, const FoldRules& rules, Samples& samples);

// What a GPU draws at most while it does nothing. One that draws more is at work, whatever its
// counters say.
double idle_power_w(std::string_view model);

}  // namespace berth
