// SPDX-License-Identifier: Apache-2.0
// Small clusters for rule 9: queues of cohort "c" with preemption, and running, leaving or pending
// Jobs, with a number of GPUs per pod.
#pragma once

#include <string>
#include <vector>

#include "tests/queue/cluster_facts.h"
#include "tests/queue/units.h"

namespace berth::queue::test {

inline constexpr std::int64_t kNow = 1000;  // microseconds since the epoch

struct LittleCluster : ClusterFacts {
  void add_node(const std::string& name, std::int64_t gpus, const std::string& pool = "training");
  QueueFact& add_queue(const std::string& name, std::int64_t nominal);
  JobFact& add_waiting(const std::string& name, const std::string& queue, std::int64_t gpus,
                       std::int32_t priority = 0, std::int64_t size = 1);
  // One pod on each of these nodes. The Jobs are admitted in the order of these calls.
  JobFact& add_running(const std::string& name, const std::string& queue, std::int64_t gpus,
                       const std::vector<std::string>& on, std::int32_t priority = 0);
  // Jobs with one GPU each, named "b1" and so on.
  void add_running(const std::string& queue, int count, const std::string& node);
  // Suspends the Job; its pods are still there.
  void stop(const std::string& name);
};

// The admissions in order: "a1", or for those that must wait "a1 after b1,b2" and "a1 after
// others". The engine and the model must give equal texts.
std::vector<std::string> decided(const ClusterFacts& facts, std::int64_t now = kNow);

// "a1 awaits b1": each admission with the leaving work that it waits for.
std::vector<std::string> awaited(const ClusterFacts& facts, std::int64_t now = kNow);

}  // namespace berth::queue::test
