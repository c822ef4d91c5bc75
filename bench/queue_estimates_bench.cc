// SPDX-License-Identifier: Apache-2.0
// queue_estimates_bench: how long the loop waits while it is worked out between when and when what
// waits begins: a round of plays, turn by turn (controller/queue/starts/start_teller.h), and then
// what it has shown. Nodes are full of Jobs that declare how long they run; others wait, a quarter
// of which came within the last hour. Facts are made in code, as in queue_core_bench. Prints one
// JSON object; times are the process' own CPU.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "bench/rounds.h"
#include "controller/queue/starts/start_estimates.h"
#include "controller/queue/starts/start_teller.h"

namespace berth::queue {
namespace {

constexpr char kGpu[] = "nvidia.com/gpu";
constexpr std::int64_t kMinute = 60'000'000;
constexpr std::int64_t kNow = 29'736'000 * kMinute;
constexpr int kGpusOfNode = 8, kCohorts = 50, kPools = 4;

struct Size {
  int nodes = 10'000;
  int waiting = 20'000;
  int queues = 300;
  bool strict_fifo = false;
  bool declared = true;  // how long they run
};

std::string queue_of(int i) { return fmt::format("queue-{}", i); }
std::string pool_of(int i) { return fmt::format("pool-{}", i % kPools); }

JobFact make_job(const char* kind, int i, int queues, int gpus, int pods) {
  return {.workload = fmt::format("Job/team-{}/{}-{}", i % 40, kind, i),
          .uid = fmt::format("{}-{:08x}", kind, static_cast<unsigned>(i) * 2654435761u),
          .queue = queue_of(i % queues),
          .created = kNow - (i % 240 + 1) * kMinute,
          .requests = {{kGpu, gpus}},
          .parallelism = pods,
          .lasts = (60 << i % 5) * kMinute};
}

void run_on(FactsIndex& index, const std::string& node, int i, const Size& size) {
  JobFact job = make_job("runs", i, size.queues, kGpusOfNode, 1);
  if (!size.declared) job.lasts = 0;
  // Its queue has quota in the node's pool, as pools and queues go round in fours.
  job.suspended = false;
  job.started = kNow - i * 7 % 55 * kMinute;
  job.admitted = AdmissionFact{.uid = job.uid,
                               .queue = job.queue,
                               .cohort = fmt::format("cohort-{}", i % size.queues % kCohorts),
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
  const std::int64_t nominal = std::int64_t{size.nodes} * kGpusOfNode / size.queues + 1;
  for (int i = 0; i < size.queues; ++i) {
    index->put(QueueFact{.name = queue_of(i),
                         .cohort = fmt::format("cohort-{}", i % kCohorts),
                         .quotas = {{kGpu, pool_of(i), nominal, {}, {}}},
                         .strict_fifo = size.strict_fifo});
  }
  for (int i = 0; i < size.nodes; ++i) {
    const std::string node = fmt::format("node-{}", i);
    index->put(NodeFact{.name = node, .pool = pool_of(i), .offers = {{kGpu, kGpusOfNode}}});
    run_on(*index, node, i, size);
  }
  for (int i = 0; i < size.waiting; ++i)
    index->put(
        make_job("waits", i, size.queues, 1 << i / size.queues % 4, 1 + i / size.queues / 4 % 3));
  return index;
}

struct Cost {
  int turns = 0;
  double turn_ms = 0;  // the longest
  double tell_ms = 0;
  int ranges = 0;
};

Cost cost_of(const Size& size) {
  const auto index = make_index(size);
  const RunShares nobody_has_finished;
  Cost cost;
  StartRound round;
  for (; !round.is_whole(); ++cost.turns) {
    const double ms = median_cpu_ms(1, [&] {
      round.play(*index, Arrivals(*index, kNow), as_others_did(nobody_has_finished), kNow,
                 StartTeller::limits_of_turn(*index));
    });
    cost.turn_ms = std::max(cost.turn_ms, ms);
  }
  cost.tell_ms = median_cpu_ms(1, [&] {
    const StartEstimates estimates(*index, std::move(round));
    for (const auto& [name, workload] : index->workloads()) {
      const auto estimate = estimates.find(workload);
      cost.ranges += estimate && estimate->latest ? 1 : 0;
    }
  });
  return cost;
}

std::string text_of(const char* name, const Size& size) {
  const Cost cost = cost_of(size);
  return fmt::format(
      "\"{}\": {{\"nodes\": {}, \"waiting\": {}, \"turns\": {}, \"turn_ms\": {:.1f}, "
      "\"tell_ms\": {:.1f}, \"ranges\": {}}}",
      name, size.nodes, size.waiting, cost.turns, cost.turn_ms, cost.tell_ms, cost.ranges);
}

int run() {
  fmt::print("{{{},\n {},\n {},\n {},\n {},\n {},\n {}}}\n", text_of("few", {.waiting = 600}),
             text_of("some", {.waiting = 2'400}), text_of("many", {}),
             text_of("strict", {.strict_fifo = true}),
             text_of("undeclared", {.waiting = 600, .declared = false}),
             text_of("medium", {.nodes = 1'000, .waiting = 1'000, .queues = 20}),
             text_of("small", {.nodes = 100, .waiting = 500, .queues = 20}));
  return 0;
}

}  // namespace
}  // namespace berth::queue

int main() { return berth::queue::run(); }
