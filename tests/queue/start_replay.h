// SPDX-License-Identifier: Apache-2.0
// StartReplay: a cluster's day through the queue's own engine. Jobs arrive at random, are admitted
// by the engine, and end before their declared time. At each time it records the expected starts of
// pending Jobs, as the controller would report them, or with more knowledge (start_oracle.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "controller/queue/starts/start_estimates.h"
#include "tests/queue/start_oracle.h"

namespace berth::queue::test {

struct ToldStart {
  std::string workload;
  bool first = true;      // the workload's first forecast; else the one in its status then
  bool sampled = false;   // at a quarter of an hour
  std::int64_t told = 0;  // when, in microseconds
  StartEstimate estimate;
  std::int64_t arrived = 0;
  std::int64_t started = 0;
};

// The forecaster's knowledge.
enum class Knowing {
  kWhatItSees,  // what the controller sees
  kLaws,        // also the distributions of arrivals and run times
  kRunTimes,    // also the run time of each present Job
};

struct ReplayedCluster {
  double load = 1;  // arriving work relative to the capacity of the nodes
  bool strict_fifo = false;
  bool one_queue = false;
  Knowing knowing = Knowing::kWhatItSees;
  bool looks_again = false;  // also sample earlier forecasts, each quarter of an hour
};

class StartReplay {
 public:
  // Three teams have a queue each, or share one.
  StartReplay(std::uint64_t seed, const ReplayedCluster& cluster);
  // Runs until so many Jobs have arrived. Returns all forecasts, by time.
  std::vector<ToldStart> run(int jobs);

 private:
  struct Run {
    JobFact fact;
    std::string namespace_;
    std::int64_t takes = 0;
    std::int64_t ends = 0;
    std::vector<ToldStart> told;
  };
  double chance();
  template <class T>
  const T& any_of(const std::vector<T>& of);
  Run next(int number);
  double mean_gpu_time();
  void arrive(Run run);
  void decide();
  void begin(const std::string& workload);
  void bind(const Run& run);
  void end(const std::string& workload);
  void tell(bool again);
  StartEstimates estimates() const;

  std::mt19937_64 random_;
  ReplayedCluster cluster_;
  FactsIndex index_;
  RunShares shares_;
  std::int64_t now_ = 0;
  std::map<std::string, Run> runs_;                                     // pending or running
  std::multimap<std::int64_t, std::string> ends_;                       // of running Jobs
  std::map<std::string, std::vector<std::string>> pods_;                // by workload
  std::map<std::string, std::int64_t> free_;                            // by node
  std::map<std::string, std::pair<std::string, std::int64_t>> stands_;  // by pod: node and GPUs
  std::vector<ToldStart> out_;
  std::optional<StartOracle> oracle_;
};

}  // namespace berth::queue::test
