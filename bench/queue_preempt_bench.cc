// SPDX-License-Identifier: Apache-2.0
// queue_preempt_bench: what one cycle costs that has to find out who yields (docs/queue-rules.md,
// rule 9), on 500 full nodes of eight GPUs. Prints one JSON object; times are the process' own CPU,
// the median of rounds with cold caches.
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "bench/rounds.h"
#include "controller/queue/cycle/cycle.h"

namespace berth::queue {
namespace {

constexpr char kGpu[] = "nvidia.com/gpu";
constexpr int kNodes = 500, kGpusPerNode = 8, kGpus = kNodes * kGpusPerNode;
constexpr std::int64_t kNow = 1'790'000'000'000'000;
constexpr std::int64_t kMinute = 60'000'000;

void add_queue(FactsIndex& index, const std::string& name, std::int64_t nominal) {
  index.put(QueueFact{.name = name,
                      .cohort = "research",
                      .quotas = {{.resource = kGpu, .pool = "training", .nominal = nominal}},
                      .preemption = {.own = true, .others = Reclaims::kAny}});
}

JobFact make_job(const std::string& name, const std::string& queue, std::int64_t gpus,
                 std::int64_t pods) {
  return {.workload = "Job/team/" + name,
          .uid = name,
          .queue = queue,
          .requests = {{kGpu, gpus}, {"pods", 1}},
          .parallelism = pods};
}

// Nodes that are full of Jobs of one GPU, of which "tenant" can pay for so many.
void add_tenants(FactsIndex& index, std::int64_t funded) {
  add_queue(index, "tenant", funded);
  for (int i = 0; i < kNodes; ++i)
    index.put(NodeFact{.name = fmt::format("node-{}", i),
                       .pool = "training",
                       .offers = {{kGpu, kGpusPerNode}, {"pods", 110}},
                       .gpu_weights = {{kGpu, kWholeGpu}}});
  for (int i = 0; i < kGpus; ++i) {
    JobFact job = make_job(fmt::format("tenant-{}", i), "tenant", 1, 1);
    job.suspended = false;
    job.checkpoint = kNow - i % 97 * kMinute;
    job.admitted = AdmissionFact{.uid = job.uid,
                                 .queue = job.queue,
                                 .cohort = "research",
                                 .pool = "training",
                                 .amounts = {{kGpu, 1}},
                                 .since = kNow - kGpus * kMinute + i * kMinute};
    index.put(job);
    index.put(PodFact{.uid = job.uid + "-pod",
                      .workload = job.workload,
                      .requests = job.requests,
                      .state = PodState::kBound,
                      .node = fmt::format("node-{}", i / kGpusPerNode)});
  }
}

struct Cost {
  double s = 0;
  std::size_t admitted = 0, displaced = 0;
};

Cost cost_of_cycle(const FactsIndex& index) {
  Cost cost;
  cost.s = median_cpu_ms(5,
                         [&] {
                           Cycle cycle(index, PreemptionTerms{.now = kNow});
                           cycle.run(512);
                           cost.admitted = cycle.admissions().size();
                           cost.displaced = 0;
                           for (const Admission& admission : cycle.admissions())
                             cost.displaced += admission.ahead.size();
                         }) /
           1000;
  return cost;
}

// Forty classes wait, each within the nominal quota of their queue. All that runs is funded.
Cost cannot_as_all_is_funded() {
  FactsIndex index;
  add_tenants(index, kGpus);
  add_queue(index, "owner", kGpus);
  for (int i = 0; i < 400; ++i)
    index.put(make_job(fmt::format("owner-{}", i), "owner", 1 + i % 8, 1 + i / 8 % 5));
  return cost_of_cycle(index);
}

// Half of it is borrowed, and each of the forty classes wants more than that.
Cost cannot_as_all_is_too_little() {
  FactsIndex index;
  add_tenants(index, kGpus / 2);
  add_queue(index, "owner", kGpus);
  for (int i = 0; i < 40; ++i)
    index.put(make_job(fmt::format("owner-{}", i), "owner", 8, kNodes / 2 + 1 + i));
  return cost_of_cycle(index);
}

Cost reclaim(std::int64_t gpus, std::int64_t pods, std::int64_t funded) {
  FactsIndex index;
  add_tenants(index, funded);
  add_queue(index, "owner", kGpus - funded);
  index.put(make_job("owner-0", "owner", gpus, pods));
  return cost_of_cycle(index);
}

int run() {
  const Cost funded = cannot_as_all_is_funded();
  const Cost too_little = cannot_as_all_is_too_little();
  const Cost one = reclaim(1, 1, 0);
  const Cost gang = reclaim(kGpusPerNode, kNodes / 2, kGpus / 2);
  fmt::print(
      "{{\"funded_s\": {:.4f}, \"too_little_s\": {:.4f}, \"reclaim_one_s\": {:.4f}, "
      "\"reclaim_gang_s\": {:.4f}, \"gang_displaced\": {}}}\n",
      funded.s, too_little.s, one.s, gang.s, gang.displaced);
  const bool is_right = funded.admitted == 0 && too_little.admitted == 0 && one.displaced == 1 &&
                        gang.admitted == 1 && gang.displaced == kGpus / 2;
  return is_right ? 0 : 1;
}

}  // namespace
}  // namespace berth::queue

int main() { return berth::queue::run(); }
