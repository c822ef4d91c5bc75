// SPDX-License-Identifier: Apache-2.0
// StartReplay: a cluster's day, played through the queue's own engine: Jobs arrive by chance, are
// admitted as it says, and end when they do, which is before what they had declared. Of those that
// wait it is told between when and when they begin, as the controller would tell it then, or as one
// could who knew more (start_oracle.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "controller/queue/start_estimates.h"
#include "tests/queue/start_oracle.h"

namespace berth::queue::test {

struct ToldStart {
  std::string workload;
  bool first = true;      // that it was told; else what stands in the status by then
  bool sampled = false;   // at one of the quarters of an hour
  std::int64_t told = 0;  // when, in microseconds
  StartEstimate estimate;
  std::int64_t arrived = 0;
  std::int64_t started = 0;
};

// Who tells.
enum class Knowing {
  kWhatItSees,  // the controller
  kLaws,        // how often who comes, and which part of what they declare Jobs take
  kRunTimes,    // these, and how long each runs that is there
};

struct ReplayedCluster {
  double load = 1;  // what arrives, of what the nodes can do in the same time
  bool strict_fifo = false;
  bool one_queue = false;
  Knowing knowing = Knowing::kWhatItSees;
  bool looks_again = false;  // at what it has told already, each quarter of an hour
};

class StartReplay {
 public:
  // Three teams have a queue each, or all one.
  StartReplay(std::uint64_t seed, const ReplayedCluster& cluster);
  // Of so many that arrive, all that were told something, by when they were.
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
  std::map<std::string, Run> runs_;                                     // that wait or run
  std::multimap<std::int64_t, std::string> ends_;                       // of those that run
  std::map<std::string, std::vector<std::string>> pods_;                // by workload
  std::map<std::string, std::int64_t> free_;                            // by node
  std::map<std::string, std::pair<std::string, std::int64_t>> stands_;  // pods: node and GPUs
  std::vector<ToldStart> out_;
  std::optional<StartOracle> oracle_;
};

}  // namespace berth::queue::test
