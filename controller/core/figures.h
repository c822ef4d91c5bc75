// SPDX-License-Identifier: Apache-2.0
// Figures: what /metrics tells of the cluster itself, as values. Gauges are computed anew each time
// they are asked for, so that the series of an object goes with the object. What happens once is
// counted or timed by a Measure, to which plans add observations.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apis/meta.h"

namespace berth {

struct Figure {
  using Labels = std::vector<std::pair<std::string, std::string>>;
  struct Sample {
    Labels labels;
    double value = 0;
  };
  std::string name;  // as Prometheus wants it: unit last, no type
  std::string help;  // a sentence
  std::vector<Sample> samples;

  void add(Labels labels, double value) { samples.push_back({std::move(labels), value}); }
};
using Figures = std::vector<Figure>;

// Lives as long as the program, and is told by its address.
struct Measure {
  enum class Type { kCounter, kHistogram };
  using Label = std::pair<const char*, const char*>;
  Type type;
  const char* name;                 // "berth_node_rollouts_total": unit last, counters in _total
  const char* help;                 // a sentence
  std::span<const double> buckets;  // of a histogram: upper bounds, rising
  // Of a counter: series that stand at zero from the start, or their first rise would not be seen.
  std::span<const Label> zeroes;
};

// Seconds since the epoch, Prometheus' form of a point in time.
double unix_seconds(Time time);

// The three conditions after kstatus, as kube-state-metrics tells those of nodes: one sample for
// each type and status, 1 for the one that holds. Reconciling and Stalled are False while they are
// not there; everything is Unknown while the object has been changed and not been looked at yet.
void add_conditions(const Figure::Labels& object, const std::vector<Condition>& conditions,
                    bool observed, Figure& figure);
// The reason of each condition that is there, always 1.
void add_reasons(const Figure::Labels& object, const std::vector<Condition>& conditions,
                 Figure& figure);

}  // namespace berth
