// SPDX-License-Identifier: Apache-2.0
// PrometheusQuery: what berth asks Prometheus in a round, and what it makes of the answers.
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
    kNow,      // the mean since the last round, or the last value of what has no mean
    kPeak,     // the highest value since the round before the last: no burst is missed
    kHistory,  // peaks over the whole window, step by step
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
  // Between the points of a history: thirty of them are enough, and never so fine as to ask for
  // more than one of each scrape.
  Duration step() const { return std::max<Duration>({interval, grace / 30, kFinestStep}); }
  static constexpr Duration kFinestStep = std::chrono::seconds(15);
};

// The labels that a series must have to count, by name. Prometheus is asked for no others, and what
// it answers is looked at again.
using SeriesMatch = std::vector<std::pair<std::string, std::string>>;
// As the policy says, or the namespace of NVIDIA's agents.
SeriesMatch series_match(const PrometheusSpec& spec, const std::string& agents_namespace);
std::string describe_match(const SeriesMatch& match);  // "namespace=gpu-operator, job=dcgm"

// Of a first round, or of a first one by another threshold, with the history of each GPU.
std::vector<PrometheusQuery> prometheus_queries(const SamplingWindow& window, bool with_history,
                                                const SeriesMatch& match);

// Adds what the answer says to the round, as its bytes come; the round outlives it.
PrometheusAnswer answer_into(Round& round, const PrometheusQuery& query,
                             const SamplingWindow& window, const SeriesMatch& match);

// How many series there are that do not count, by whose they are; at most kMaxForeign rows.
std::string foreign_query(const SeriesMatch& match);
PrometheusAnswer foreign_into(Round& round);

// Since when no point has reached the threshold; points that are too far apart, or that say
// nothing, are where nobody knows. Nothing: the last of them is no longer true.
std::optional<Time> quiet_run(const CounterInfo& counter, const Points& points,
                              const SamplingWindow& window);

}  // namespace berth
