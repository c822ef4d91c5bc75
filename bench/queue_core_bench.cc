// SPDX-License-Identifier: Apache-2.0
// queue_core_bench: what the queue's index and one cycle of its decisions cost, without Kubernetes
// around them. Facts are made in code and put into the index one by one; a cycle is made anew from
// it each round, as it is in life. Prints one JSON object; times are the process' own CPU, the
// median of rounds with cold caches, and events one by one by the clock.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include "bench/rounds.h"
#include "bench/usage.h"
#include "controller/queue/cycle/admission_fact.h"
#include "controller/queue/cycle/cycle.h"
#include "controller/queue/record/admission_record.h"

namespace berth::queue {
namespace {

constexpr char kGpu[] = "nvidia.com/gpu";

struct Size {
  int nodes = 0;
  int gpus_per_node = 8;
  int jobs = 0;
  int queues = 0;
  int cohorts = 0;
  int shapes = 0;
  int pools = 4;
  bool pins = true;
  bool full = false;  // every node's GPUs are taken, but for every twentieth's, which refuses all
};

std::string pool_name(const Size& size, int i) { return fmt::format("pool-{}", i % size.pools); }

JobFact make_job(const Size& size, int i) {
  const int shape = i / size.queues % size.shapes;
  return {.workload = fmt::format("Job/team/job-{}", i),
          .uid = fmt::format("{:08x}-0000-4000-8000-{:012x}", i * 2654435761u, i),
          .queue = fmt::format("queue-{}", i % size.queues),
          .priority = i % 3,
          .created = 1'790'000'000'000'000 + std::int64_t{i} * 7'777'777 % 1'000'000'007,
          .requests = {{"cpu", 1000 * (1 + shape / 4)}, {kGpu, 1 + shape % 4}, {"pods", 1}},
          .parallelism = 1 + shape % 3,
          .rules = "tolerates nothing"};
}

// Of a hundred nodes each, ten of which are a zone.
std::vector<std::string> domains_of(int node) {
  return {fmt::format("zone-{}", node / 1000), fmt::format("rack-{}", node / 100)};
}

std::unique_ptr<FactsIndex> make_index(const Size& size) {
  auto index = std::make_unique<FactsIndex>();
  index->put(TopologyFact{{"zone", "rack"}});
  for (int i = 0; i < size.nodes; ++i) {
    const std::string name = fmt::format("node-{}", i);
    index->put(NodeFact{.name = name,
                        .pool = pool_name(size, i),
                        .offers = {{"cpu", 128'000}, {kGpu, size.gpus_per_node}, {"pods", 110}},
                        .gpu_weights = {{kGpu, kWholeGpu}},
                        .domains = domains_of(i)});
    if (!size.full) continue;
    if (i % 20 == 0) {
      index->refuse("tolerates nothing", name, true);
      continue;
    }
    index->put(PodFact{.uid = name + "-pod",
                       .requests = {{kGpu, size.gpus_per_node}},
                       .state = PodState::kBound,
                       .node = name});
  }
  const std::int64_t nominal = std::int64_t{size.nodes} * size.gpus_per_node / size.queues + 1;
  for (int i = 0; i < size.queues; ++i) {
    QueueFact queue{.name = fmt::format("queue-{}", i),
                    .cohort = fmt::format("cohort-{}", i % size.cohorts),
                    .weight_thousandths = 1000 * (1 + i % 3),
                    .pins = size.pins};
    for (int p = 0; p < std::min(2, size.pools); ++p)
      queue.quotas.push_back(
          {.resource = kGpu, .pool = pool_name(size, i + p), .nominal = nominal});
    index->put(queue);
  }
  for (int i = 0; i < size.jobs; ++i) index->put(make_job(size, i));
  return index;
}

struct Cost {
  double ms = 0;
  std::size_t admitted = 0;
  std::size_t ledger_bytes = 0;  // the records of the admissions, as text
};

Cost cost_of_cycle(const FactsIndex& index) {
  Cost cost;
  cost.ms = median_cpu_ms(7, [&] {
    Cycle cycle(index);
    cycle.run(static_cast<std::size_t>(-1));
    cost.admitted = cycle.admissions().size();
    cost.ledger_bytes = 0;
    for (const Admission& admission : cycle.admissions())
      cost.ledger_bytes += encode_admission(admission_fact(admission, index)).size();
  });
  return cost;
}

// Jobs that come, are admitted, start and go, pods that are bound and end, nodes that are cordoned.
double event_p99_us(FactsIndex& index, const Size& size) {
  std::mt19937_64 random(1);
  std::vector<double> costs;
  for (int i = 0; i < 100'000; ++i) {
    JobFact job = make_job(size, static_cast<int>(random() % static_cast<unsigned>(size.jobs)));
    const int node = static_cast<int>(random() % static_cast<unsigned>(size.nodes));
    const NodeFact cordoned{.name = fmt::format("node-{}", node),
                            .pool = pool_name(size, node),
                            .in_service = i % 2 == 0,
                            .offers = {{"cpu", 128'000}, {kGpu, 8}, {"pods", 110}},
                            .gpu_weights = {{kGpu, kWholeGpu}}};
    PodFact pod{.uid = job.uid + "-pod",
                .workload = job.workload,
                .requests = job.requests,
                .state = PodState::kBound,
                .node = cordoned.name};
    const auto before = std::chrono::steady_clock::now();
    switch (i % 5) {
      case 0:
        index.put(cordoned);
        break;
      case 1:
        index.remove_job(job.workload);
        break;
      case 2:
        index.put(job);
        break;
      case 3:
        index.put(pod);
        break;
      default:
        index.remove_pod(pod.uid);
    }
    costs.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - before)
            .count());
  }
  std::sort(costs.begin(), costs.end());
  return costs[costs.size() * 99 / 100];
}

// Gangs of sixteen whole nodes, each in one rack, until 5,000 nodes in 50 racks are full.
double gang_pods_per_s() {
  const Size size{.nodes = 5000, .queues = 1, .cohorts = 1, .pools = 1};
  const auto index = make_index(size);
  for (int i = 0; i < 400; ++i) {
    for (int pod = 0; pod < 16; ++pod) {
      index->put(PodFact{.uid = fmt::format("{:08x}-{}", i * 16 + pod, i),
                         .workload = fmt::format("PodGroup/team/gang-{}", i),
                         .queue = "queue-0",
                         .created = i,
                         .group_size = 16,
                         .topology = {.level = "rack", .required = true},
                         .requests = {{"cpu", 64'000}, {kGpu, 8}, {"pods", 1}}});
    }
  }
  double pods = 0;
  const double ms = median_cpu_ms(7, [&] {
    Cycle cycle(*index);
    cycle.run(static_cast<std::size_t>(-1));
    pods = 16.0 * static_cast<double>(cycle.admissions().size());
  });
  return pods / ms * 1000;
}

// One gang of 10,000 pods on 5,000 nodes, from the cycle's begin to the entry's text.
double large_gang_ms() {
  const Size size{.nodes = 5000, .queues = 1, .cohorts = 1, .pools = 1};
  const auto index = make_index(size);
  for (int pod = 0; pod < 10'000; ++pod) {
    index->put(PodFact{.uid = fmt::format("{:08x}-pod", pod),
                       .workload = "PodGroup/team/large",
                       .queue = "queue-0",
                       .group_size = 10'000,
                       .requests = {{"cpu", 32'000}, {kGpu, 4}, {"pods", 1}}});
  }
  std::size_t admitted = 0;
  const double ms = median_cpu_ms(7, [&] {
    Cycle cycle(*index);
    cycle.run(static_cast<std::size_t>(-1));
    admitted = cycle.admissions().size();
    for (const Admission& admission : cycle.admissions())
      encode_admission(admission_fact(admission, *index));
  });
  return admitted == 1 ? ms : -1;
}

int run() {
  // As Armada's own benchmark has it: a tenth of the jobs fits.
  const double before_mib = memory_now().resident_mib;
  const Size armada{
      .nodes = 1000, .gpus_per_node = 64, .jobs = 320'000, .queues = 10, .cohorts = 1, .shapes = 1};
  auto index = make_index(armada);
  const Cost armada_cost = cost_of_cycle(*index);
  const double armada_mib = memory_now().resident_mib - before_mib;
  index = nullptr;

  const Size waiting{
      .nodes = 10'000, .jobs = 100'000, .queues = 300, .cohorts = 50, .shapes = 60, .full = true};
  index = make_index(waiting);
  const Cost nothing_fits = cost_of_cycle(*index);
  const double event_us = event_p99_us(*index, waiting);
  Size twice = waiting;
  twice.nodes *= 2, twice.jobs *= 2, twice.queues *= 2, twice.cohorts *= 2;
  index = make_index(twice);
  const Cost twice_nothing = cost_of_cycle(*index);

  Size room = waiting;
  room.full = false;
  room.jobs = 200'000;
  index = make_index(room);
  const Cost placed = cost_of_cycle(*index);
  room.pins = false;
  index = make_index(room);
  const Cost admissions = cost_of_cycle(*index);
  room.nodes *= 2, room.jobs *= 2, room.queues *= 2, room.cohorts *= 2;
  index = make_index(room);
  const Cost twice_admissions = cost_of_cycle(*index);

  fmt::print(
      "{{\"armada_ms\": {:.2f}, \"armada_admitted\": {}, \"armada_mib\": {:.0f}, \"cycle_ms\": "
      "{:.2f}, \"cycle_growth\": {:.2f}, \"event_us\": {:.2f}, \"admissions_per_s\": {:.0f}, "
      "\"admitted\": {}, \"admissions_growth\": {:.2f}, \"placed_per_s\": {:.0f}, "
      "\"gang_pods_per_s\": {:.0f}, "
      "\"large_gang_ms\": {:.2f}}}\n",
      armada_cost.ms, armada_cost.admitted, armada_mib, nothing_fits.ms,
      twice_nothing.ms / nothing_fits.ms / 2, event_us,
      static_cast<double>(admissions.admitted) / admissions.ms * 1000, admissions.admitted,
      (twice_admissions.ms / static_cast<double>(twice_admissions.admitted)) /
          (admissions.ms / static_cast<double>(admissions.admitted)),
      static_cast<double>(placed.admitted) / placed.ms * 1000, gang_pods_per_s(), large_gang_ms());
  return nothing_fits.admitted == 0 ? 0 : 1;
}

}  // namespace
}  // namespace berth::queue

int main() { return berth::queue::run(); }
