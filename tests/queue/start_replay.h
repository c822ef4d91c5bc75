// SPDX-License-Identifier: Apache-2.0
// StartReplay: a cluster's day, played through the queue's own engine: Jobs arrive by chance, are
// admitted as it says, and end when they do, which is before what they had declared. Of those that
// wait it is told between when and when they begin, as the controller would tell it then.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "controller/queue/start_estimates.h"

namespace berth::queue::test {

struct ToldStart {
  std::string workload;
  std::int64_t told = 0;  // when, in microseconds
  StartEstimate estimate;
  std::int64_t arrived = 0;
  std::int64_t started = 0;
};

struct ReplayedCluster {
  double load = 1;  // what arrives, of what the nodes can do in the same time
  bool strict_fifo = false;
  bool one_queue = false;
};

class StartReplay {
 public:
  // Three teams have a queue each, or all one.
  StartReplay(std::uint64_t seed, const ReplayedCluster& cluster);
  // Of so many that arrive, all that were told something, in the order in which they began.
  std::vector<ToldStart> run(int jobs);

 private:
  struct Run {
    JobFact fact;
    std::string namespace_;
    std::int64_t takes = 0;
    std::int64_t ends = 0;
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
  void tell();

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
  std::map<std::string, ToldStart> told_;                               // that wait still
  std::vector<ToldStart> out_;
};

}  // namespace berth::queue::test
