// SPDX-License-Identifier: Apache-2.0
// PrometheusQuery: a query that berth sends to Prometheus in a round, and how it reads the answer.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apis/base/result.h"
#include "apis/base/time.h"
#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/observe/counters.h"
#include "controller/observe/prometheus_answer.h"
#include "controller/observe/round.h"

namespace berth {

struct PrometheusQuery {
  enum class Kind {
    kNow,      // the mean since the last round; the last value of a counter without a mean
    kPeak,     // the highest value since the round before the last, so that no burst is missed
    kHistory,  // peaks over the whole idle window, step by step
  };
  const CounterInfo* counter = nullptr;
  Kind kind = Kind::kNow;
  std::string target;  // path and query, escaped
};

struct SamplingWindow {
  Time now{};
  Duration interval{};
  Duration grace{};            // the policy's idle window
  std::int32_t threshold = 0;  // percent
  // The time between the points of a history. Thirty points are enough, and no step is shorter than
  // a scrape interval may be.
  Duration step() const { return std::max<Duration>({interval, grace / 30, kFinestStep}); }
  static constexpr Duration kFinestStep = std::chrono::seconds(15);
};

// The labels that a series must have, by name. The queries select by them, and berth checks each
// answer for them, too.
using SeriesMatch = std::vector<std::pair<std::string, std::string>>;
// The labels in the policy, or else the namespace of NVIDIA's node components.
SeriesMatch series_match(const PrometheusSpec& spec, const std::string& agents_namespace);
std::string describe_match(const SeriesMatch& match);  // "namespace=gpu-operator, job=dcgm"

// Returns the queries of a round. `with_history`: with the history of each GPU, for the first
// round, and the first one with another threshold.
std::vector<PrometheusQuery> prometheus_queries(const SamplingWindow& window, bool with_history,
                                                const SeriesMatch& match);

// Adds the answer to the round as its bytes arrive. The round must outlive it.
PrometheusAnswer answer_into(Round& round, const PrometheusQuery& query,
                             const SamplingWindow& window, const SeriesMatch& match);

// Counts the series that lack a required label, by the pod that was scraped; at most kMaxForeign
// rows.
std::string foreign_query(const SeriesMatch& match);
PrometheusAnswer foreign_into(Round& round);

// Returns since when all points have been below the threshold. A gap of more than 2.5 steps starts
// a new run. Nothing: the last good point is older than such a gap.
std::optional<Time> quiet_run(const CounterInfo& counter, const Points& points,
                              const SamplingWindow& window);

}  // namespace berth
