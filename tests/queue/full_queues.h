// SPDX-License-Identifier: Apache-2.0
// A node for each queue, full with a Job that declares its run time, and two pending Jobs of the
// queue.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "controller/queue/facts/facts_index.h"

namespace berth::queue::test {

inline constexpr std::int64_t kFullMinute = 60'000'000;
inline constexpr std::int64_t kFullNow = 29'736'000 * kFullMinute;
inline constexpr int kGpusOfFullNode = 8;

// The name of the queue's Job of this kind: "runs", "next" or "last".
inline std::string name_in_queue(const char* kind, int queue) {
  return fmt::format("Job/team/{}-{:03}", kind, queue);
}

// Created too long ago to count in the forecast of arrivals.
inline JobFact job_in_queue(const char* kind, int queue) {
  return {.workload = name_in_queue(kind, queue),
          .uid = fmt::format("{}-{:03}", kind, queue),
          .queue = fmt::format("q{:03}", queue),
          .created = kFullNow - 3 * 24 * 60 * kFullMinute + queue,
          .requests = {{"nvidia.com/gpu", kGpusOfFullNode}},
          .parallelism = 1,
          .lasts = (60 + queue) * kFullMinute};
}

inline std::string node_of_queue(int queue) { return fmt::format("n{:03}", queue); }

inline JobFact running_in_queue(int queue) {
  JobFact runs = job_in_queue("runs", queue);
  runs.suspended = false;
  runs.started = kFullNow;
  runs.admitted = AdmissionFact{.uid = runs.uid,
                                .queue = runs.queue,
                                .pool = "p",
                                .pods = 1,
                                .amounts = {{"nvidia.com/gpu", kGpusOfFullNode}},
                                .since = kFullNow,
                                .nodes = {node_of_queue(queue)}};
  return runs;
}

inline void add_full_queue(int queue, FactsIndex& index) {
  const JobFact runs = running_in_queue(queue);
  index.put(NodeFact{
      .name = node_of_queue(queue), .pool = "p", .offers = {{"nvidia.com/gpu", kGpusOfFullNode}}});
  index.put(
      QueueFact{.name = runs.queue, .quotas = {{"nvidia.com/gpu", "p", kGpusOfFullNode, {}, {}}}});
  index.put(runs);
  index.put(PodFact{.uid = runs.uid + "-pod",
                    .workload = runs.workload,
                    .requests = runs.requests,
                    .state = PodState::kBound,
                    .node = node_of_queue(queue)});
  index.put(job_in_queue("next", queue)), index.put(job_in_queue("last", queue));
}

}  // namespace berth::queue::test
