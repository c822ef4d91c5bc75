// SPDX-License-Identifier: Apache-2.0
// Arrivals: who will come to the queues and is not there yet, as far as those tell who came of
// late: as many in the time, each like one of them. Only Jobs that declare how long they run: of
// what declares nothing nobody knows what it would leave to others.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/queue/facts_index.h"

namespace berth::queue {

// Names that differ in a digit have nothing in common in it.
std::uint64_t hash_of_name(std::string_view name);

// Chance from a seed: the same numbers whenever it is asked.
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

  // Of the times that may come, one after the other. Few who came say little of how many will, and
  // of which kinds: each stream weighs each of them by chance, so that streams differ as much as
  // such few may be off (the Bayesian bootstrap; Rubin, 1981).
  class Stream {
   public:
    Stream(const Arrivals& of, std::uint64_t seed);
    std::int64_t next_at() const { return next_at_; }  // the greatest number: nobody comes
    // Who comes then. It stays where it is as long as the stream does.
    const Workload& take();
    // Its Job is none of the cluster's.
    static bool has_brought(const Workload& of) { return of.job && of.job->uid.empty(); }

   private:
    void draw_next();

    const Arrivals& of_;
    Draws draws_;
    std::int64_t next_at_;
    std::vector<double> up_to_;  // by kind, the weights of all until it
    std::deque<std::string> names_;
    std::deque<Workload> came_;
  };

  Arrivals(const FactsIndex& index, std::int64_t now);
  // As these came within so many microseconds before.
  Arrivals(std::vector<Kind> came, double within, std::int64_t now)
      : now_(now), within_(within), came_(std::move(came)) {}

 private:
  std::int64_t now_;
  double within_;
  std::vector<Kind> came_;
};

}  // namespace berth::queue
