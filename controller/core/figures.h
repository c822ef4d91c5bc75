// SPDX-License-Identifier: Apache-2.0
// Figures: values for /metrics about the cluster itself. berth computes gauges at each scrape, so
// the series of an object disappear with the object. Plans add observations to a Measure to count
// or time what happens once.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apis/kinds/meta.h"

namespace berth {

struct Figure {
  using Labels = std::vector<std::pair<std::string, std::string>>;
  struct Sample {
    Labels labels;
    double value = 0;
  };
  std::string name;  // in Prometheus' convention: unit last, no type
  std::string help;  // a sentence
  std::vector<Sample> samples;

  void add(Labels labels, double value) { samples.push_back({std::move(labels), value}); }
};
using Figures = std::vector<Figure>;

// A constant of static storage duration; its address identifies it.
struct Measure {
  enum class Type { kCounter, kHistogram };
  using Label = std::pair<const char*, const char*>;
  Type type;
  const char* name;                 // "berth_node_rollouts_total": unit last, counters in _total
  const char* help;                 // a sentence
  std::span<const double> buckets;  // of a histogram: upper bounds, rising
  // For a counter: series that exist with 0 from the start. Otherwise rate() misses their first
  // rise.
  std::span<const Label> zeroes;
};

// Seconds since the epoch, as Prometheus shows a point in time.
double unix_seconds(Time time);

// The three conditions in the style of kstatus, in the form that kube-state-metrics uses for nodes:
// one sample for each type and status, 1 for the present one. An absent Reconciling or Stalled
// counts as False. If berth has not yet observed the latest generation, all are Unknown.
void add_conditions(const Figure::Labels& object, const std::vector<Condition>& conditions,
                    bool observed, Figure& figure);
// The reason of each existing condition, always 1.
void add_reasons(const Figure::Labels& object, const std::vector<Condition>& conditions,
                 Figure& figure);

}  // namespace berth
