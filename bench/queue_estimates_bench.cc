// SPDX-License-Identifier: Apache-2.0
// queue_estimates_bench: what one reconcile costs that says between when and when what waits
// begins. 10,000 nodes are full of Jobs that declare how long they run; others wait in 300 queues,
// a quarter of which came within the last hour. Facts are made in code, as in queue_core_bench.
// Prints one JSON object; times are the process' own CPU.
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "bench/rounds.h"
#include "controller/queue/start_estimates.h"

namespace berth::queue {
namespace {

constexpr char kGpu[] = "nvidia.com/gpu";
constexpr std::int64_t kMinute = 60'000'000;
constexpr std::int64_t kNow = 29'736'000 * kMinute;
constexpr int kGpusOfNode = 8, kQueues = 300, kCohorts = 50, kPools = 4;

struct Size {
  int nodes = 10'000;
  int waiting = 20'000;
  bool strict_fifo = false;
};

std::string pool_of(int i) { return fmt::format("pool-{}", i % kPools); }
std::string queue_of(int i) { return fmt::format("queue-{}", i % kQueues); }

JobFact make_job(const char* kind, int i, int gpus, int pods) {
  return {.workload = fmt::format("Job/team-{}/{}-{}", i % 40, kind, i),
          .uid = fmt::format("{}-{:08x}", kind, static_cast<unsigned>(i) * 2654435761u),
          .queue = queue_of(i),
          .created = kNow - (i % 240 + 1) * kMinute,
          .requests = {{kGpu, gpus}},
          .parallelism = pods,
          .lasts = (60 << i % 5) * kMinute};
}

void run_on(FactsIndex& index, const std::string& node, int i) {
  JobFact job = make_job("runs", i, kGpusOfNode, 1);
  // Its queue has quota in the node's pool, as pools and queues go round in fours.
  job.suspended = false;
  job.started = kNow - i * 7 % 55 * kMinute;
  job.admitted = AdmissionFact{.uid = job.uid,
                               .queue = job.queue,
                               .cohort = fmt::format("cohort-{}", i % kQueues % kCohorts),
                               .pool = pool_of(i),
                               .pods = 1,
                               .amounts = {{kGpu, kGpusOfNode}},
                               .since = job.started,
                               .nodes = {node}};
  index.put(job);
  index.put(PodFact{.uid = job.uid + "-pod",
                    .workload = job.workload,
                    .requests = job.requests,
                    .state = PodState::kBound,
                    .node = node});
}

std::unique_ptr<FactsIndex> make_index(const Size& size) {
  auto index = std::make_unique<FactsIndex>();
  const std::int64_t nominal = std::int64_t{size.nodes} * kGpusOfNode / kQueues + 1;
  for (int i = 0; i < kQueues; ++i) {
    index->put(QueueFact{.name = queue_of(i),
                         .cohort = fmt::format("cohort-{}", i % kCohorts),
                         .quotas = {{kGpu, pool_of(i), nominal, {}, {}}},
                         .strict_fifo = size.strict_fifo});
  }
  for (int i = 0; i < size.nodes; ++i) {
    const std::string node = fmt::format("node-{}", i);
    index->put(NodeFact{.name = node, .pool = pool_of(i), .offers = {{kGpu, kGpusOfNode}}});
    run_on(*index, node, i);
  }
  for (int i = 0; i < size.waiting; ++i)
    index->put(make_job("waits", i, 1 << i / kQueues % 4, 1 + i / kQueues / 4 % 3));
  return index;
}

struct Cost {
  double ms = 0;
  int ranges = 0;  // of so many that wait
};

Cost cost_of(const Size& size) {
  const auto index = make_index(size);
  const RunShares nobody_has_finished;
  Cost cost;
  cost.ms = median_cpu_ms(3, [&] {
    const StartEstimates estimates(*index, nobody_has_finished, kNow, StartEstimates::kFewTries);
    cost.ranges = 0;
    for (const auto& [name, workload] : index->workloads()) {
      const auto estimate = estimates.find(workload);
      cost.ranges += estimate && estimate->latest ? 1 : 0;
    }
  });
  return cost;
}

int run() {
  const Cost best_effort = cost_of({}), strict = cost_of({.strict_fifo = true});
  // With few classes somebody begins in the first play, and all plays are played to their bound.
  const Cost few = cost_of({.waiting = 2 * kQueues});
  const Cost small = cost_of({.nodes = 100, .waiting = 500});
  fmt::print(
      "{{\"best_effort_ms\": {:.0f}, \"strict_ms\": {:.0f}, \"few_ms\": {:.0f}, \"small_ms\": "
      "{:.1f}, "
      "\"ranges\": [{}, {}, {}, {}]}}\n",
      best_effort.ms, strict.ms, few.ms, small.ms, best_effort.ranges, strict.ranges, few.ranges,
      small.ranges);
  return 0;
}

}  // namespace
}  // namespace berth::queue

int main() { return berth::queue::run(); }
