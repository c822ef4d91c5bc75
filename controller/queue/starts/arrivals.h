// SPDX-License-Identifier: Apache-2.0
// Arrivals: the Jobs that a projection expects to arrive. They arrive at the rate of recent Jobs,
// and each is like one of those. Only Jobs that declare a run time (activeDeadlineSeconds) count.
// For other Jobs nothing says when they would free their GPUs.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/queue/facts/facts_index.h"

namespace berth::queue {

// Names that differ in one digit have unrelated hashes.
std::uint64_t hash_of_name(std::string_view name);

// Pseudo-random numbers from a seed. The same seed always gives the same numbers.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}
  double next();  // at least 0, less than 1

 private:
  std::uint64_t state_;
};

class Arrivals {
 public:
  struct Kind {
    const Workload* like = nullptr;
    ClassId workloads = 0;
  };

  // One random sequence of future arrivals. A few recent Jobs say little about the future rate and
  // the future kinds of Jobs. So each stream gives each recent Job a random weight. The streams
  // then differ as much as the small sample may be wrong (the Bayesian bootstrap; Rubin, 1981).
  class Stream {
   public:
    Stream(const Arrivals& of, std::uint64_t seed);
    std::int64_t next_at() const { return next_at_; }  // the greatest number: no Job arrives
    // Returns the workload that arrives then. The reference is valid as long as the stream.
    const Workload& take();
    // Whether the workload is from a stream: its Job is none of the cluster's.
    static bool has_brought(const Workload& of) { return of.job && of.job->uid.empty(); }

   private:
    void draw_next();

    const Arrivals& of_;
    Draws draws_;
    std::int64_t next_at_;
    std::vector<double> up_to_;  // by kind, the sum of the weights up to it
    std::deque<std::string> names_;
    std::deque<Workload> came_;
  };

  Arrivals(const FactsIndex& index, std::int64_t now);
  // Takes the Jobs that arrived in the last `within` microseconds.
  Arrivals(std::vector<Kind> came, double within, std::int64_t now)
      : now_(now), within_(within), came_(std::move(came)) {}

 private:
  std::int64_t now_;
  double within_;
  std::vector<Kind> came_;
};

}  // namespace berth::queue
