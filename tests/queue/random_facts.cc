// SPDX-License-Identifier: Apache-2.0
#include "tests/queue/random_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/queue/units.h"

namespace berth::queue::test {
namespace {

constexpr const char* kNic = "nvidia.com/hostdev";

}  // namespace

std::string RandomFacts::pool() { return below(4) == 0 ? "*" : below(3) == 0 ? "inf" : "train"; }

PoolNames RandomFacts::pool_names() {
  if (chance(15)) return {""};
  if (chance(30)) return {"inf", "train"};
  return {chance(70) ? "train" : "inf"};
}

std::string RandomFacts::queue_name() { return fmt::format("q{}", chance(3) ? 9 : below(queues_)); }

Amounts RandomFacts::requests() {
  Amounts amounts{{"cpu", 1000 * (1 + below(2))}};
  if (!chance(15)) amounts.emplace_back(kGpu, 1 + below(chance(70) ? 2 : 5));
  if (chance(5)) amounts.emplace_back(kNic, 1);
  if (chance(12)) amounts.emplace_back(kMig, 1 + below(2));
  std::sort(amounts.begin(), amounts.end());
  return amounts;
}

AdmissionFact RandomFacts::admission() {
  AdmissionFact fact{.queue = queue_name(),
                     .cohort = chance(70) ? "c0" : "c1",
                     .pool = pool(),
                     .pods = 1 + below(3),
                     .since = below(10)};
  if (chance(30)) fact.amounts.emplace_back("gpu", kWholeGpu / 8 * (1 + below(16)));
  if (!chance(8)) fact.amounts.emplace_back(kGpu, 1 + below(4));
  cover(fact);
  for (int i = 0, n = chance(50) ? 0 : 1 + below(3); i < n; ++i)
    fact.nodes.push_back(fmt::format("n{}", below(6)));
  for (int i = 0, n = chance(60) ? 0 : 1 + below(3); i < n; ++i)
    fact.members.push_back(fmt::format("uid-p{}", below(9)));
  return fact;
}

// Often covers less than the members request. Earlier records have no shapes.
void RandomFacts::cover(AdmissionFact& fact) {
  if (chance(15)) fact.seats = {{chance(50) ? "leader" : "1 nvidia.com/gpu", 1}, {"worker", 2}};
  if (chance(40)) return;
  std::vector<std::string> seats = {""};
  if (!fact.seats.empty() && chance(80)) seats = {fact.seats[0].first, fact.seats[1].first};
  for (const std::string& seat : seats) {
    SeatShape& shape = fact.shapes.emplace_back();
    shape.seat = seat;
    shape.pods = 1 + below(3);
    if (chance(10)) shape.asks.emplace_back(kNic, 1);
    if (chance(85)) shape.asks.emplace_back(kGpu, 1 + below(chance(50) ? 2 : 5));
    if (chance(20)) shape.asks.emplace_back(kMig, 1 + below(2));
    std::ranges::sort(shape.asks);
    if (chance(30)) fact.shapes.push_back({seat, 1 + below(2), {{kGpu, 1 + below(3)}}});
  }
}

NodeFact RandomFacts::node(int i) {
  NodeFact fact{.name = fmt::format("n{}", i), .in_service = !chance(15)};
  fact.pool = chance(8) ? "" : chance(70) ? "train" : "inf";
  fact.offers = {{"cpu", 1000 * (4 + below(16))}};
  if (chance(30)) fact.offers.emplace_back(kNic, 2);
  if (!chance(12)) fact.offers.emplace_back(kGpu, 1 + below(9));
  if (chance(35)) fact.offers.emplace_back(kMig, 1 + below(7));
  fact.domains = {chance(90) ? fmt::format("z{}", below(2)) : "",
                  chance(90) ? fmt::format("r{}", below(3)) : ""};
  fact.one_numa_node = i % 3 == 1;
  if (chance(80)) fact.gpu_weights = {{kGpu, kWholeGpu}, {kMig, kWholeGpu / (chance(70) ? 8 : 4)}};
  return fact;
}

QueueFact RandomFacts::queue(int i) {
  QueueFact fact{.name = fmt::format("q{}", i),
                 .cohort = chance(65)   ? "c0"
                           : chance(50) ? "c1"
                                        : "",
                 .strict_fifo = chance(30),
                 .held = chance(8),
                 .weight_thousandths = chance(60) ? 1000 : 500 * below(5),
                 .pins = chance(80),
                 .topology = chance(12) ? wish() : TopologyWish()};
  fact.preemption = preemption();
  if (chance(50)) fact.reserve_after = below(8);
  for (const char* pool : {"train", "inf", "*"}) {
    if (chance(pool[0] == 't' ? 5 : 65)) continue;
    for (const char* resource : {kGpu, "gpu", kMig, kNic}) {
      if (chance(resource == std::string(kGpu) ? 12 : resource == std::string("gpu") ? 70 : 75))
        continue;
      QuotaFact quota{.resource = resource, .pool = pool, .nominal = below(9)};
      const std::int64_t unit = quota.resource == kGpuClass ? kWholeGpu : 1;
      quota.nominal *= unit;
      if (!fact.cohort.empty() && chance(25)) quota.borrowing_limit = unit * below(5);
      if (!fact.cohort.empty() && chance(25))
        quota.lending_limit = std::min(quota.nominal, unit * below(4));
      fact.quotas.push_back(quota);
    }
  }
  if (chance(30)) std::reverse(fact.quotas.begin(), fact.quotas.end());
  return fact;
}

PreemptionFact RandomFacts::preemption() {
  PreemptionFact fact{.own = chance(60), .others = static_cast<Reclaims>(below(3))};
  if (chance(25)) fact.own_after = below(8);
  if (chance(25)) fact.others_after = below(8);
  fact.stays_may_borrow = chance(30);
  return fact;
}

JobFact RandomFacts::job(int i) {
  JobFact fact{.workload = fmt::format("Job/ns/j{}", i),
               .uid = fmt::format("uid-j{}", i),
               .queue = chance(4) ? "" : queue_name(),
               .priority = below(3),
               .created = below(6),
               .requests = requests(),
               .parallelism = 1 + below(3),
               .generation = 1 + below(2),
               .suspended = chance(85),
               .held = chance(5),
               .template_mutable = !chance(8)};
  if (chance(50)) fact.completions = 1 + below(4);
  if (chance(15)) fact.succeeded = below(3);
  if (chance(5)) fact.failed_indexes = 1;
  if (chance(6)) fact.only_pools = pool_names();
  if (chance(30)) fact.rules = rules();
  if (chance(8)) fact.modelled = false;
  if (chance(20)) fact.topology = wish();
  if (chance(8)) fact.setbacks = 4 + below(2);
  if (chance(50)) fact.lasts = 1 + below(12) * (1 + below(8));
  if (!fact.suspended && chance(80)) fact.started = 1 + below(9);
  if (chance(20)) fact.checkpoint = below(12);
  if (chance(fact.suspended ? 8 : 60)) fact.admitted = admission();
  if (chance(8)) fact.hangs_from = 1 + below(20), fact.parallelism = 0;
  return fact;
}

PodFact RandomFacts::pod(int i) {
  PodFact fact{.uid = fmt::format("uid-p{}", i),
               .queue = chance(10) ? "" : queue_name(),
               .priority = below(3),
               .created = below(6),
               .requests = requests(),
               .state = static_cast<PodState>(chance(55) ? 0 : below(5))};
  switch (below(6)) {
    case 0:
      fact.workload = fmt::format("Pod/ns/p{}", i);
      break;
    case 1:
    case 2:
      fact.workload = fmt::format("PodGroup/ns/g{}", below(3));
      fact.group_size = chance(90) ? 2 : 3;
      if (chance(35)) fact.fast = true, fact.role_size = below(3);
      if (fact.fast && chance(60)) fact.role = chance(50) ? "leader" : "worker";
      if (chance(70)) fact.maker = fmt::format("m{}", below(2));
      break;
    case 3:
      if (chance(40)) break;
      fact.workload = fmt::format("Job/ns/j{}", below(9));
      if (fact.state == PodState::kWaiting) fact.state = PodState::kReleased;
      break;
    default:
      fact.workload = "";
  }
  if (fact.state == PodState::kBound || fact.state == PodState::kLeaving)
    fact.node = fmt::format("n{}", below(7));
  if (fact.state == PodState::kLeaving) fact.hangs_from = below(20);
  if (chance(6)) fact.only_pools = pool_names();
  if (chance(30)) fact.rules = rules();
  if (chance(8)) fact.modelled = false;
  if (chance(20)) fact.topology = wish();
  if (chance(20)) fact.checkpoint = below(12);
  if (!fact.workload.empty() && chance(15)) fact.admitted = admission();
  fact.stays = fact.workload.starts_with("Pod") && chance(30);
  return fact;
}

std::string RandomFacts::rules() { return fmt::format("s{}", below(3)); }

TopologyWish RandomFacts::wish() {
  return {.level = chance(90) ? (chance(50) ? "zone" : "rack") : "row", .required = chance(50)};
}

std::pair<std::string, std::string> RandomFacts::refusal() {
  return {rules(), fmt::format("n{}", below(5))};
}

AheadFact RandomFacts::ahead() {
  const int of = below(9);
  AheadFact fact{
      .workload = fmt::format("Job/ns/j{}", of), .since = below(10), .evicted = chance(80)};
  fact.uid = chance(80) ? "" : fmt::format("uid-j{}", of);
  if (chance(40)) fact.workload = fmt::format("PodGroup/ns/g{}", below(3));
  return fact;
}

RestartFact RandomFacts::restart() {
  RestartFact fact{.workload = fmt::format("PodGroup/ns/g{}", below(3)),
                   .admission = admission(),
                   .makers = {fmt::format("m{}", below(2))}};
  for (int i = 0, n = 1 + below(2); i < n; ++i) fact.asks.emplace_back(requests(), 1 + below(2));
  return fact;
}

LedgerFact RandomFacts::ledger() {
  const int of = below(9);
  LedgerFact fact{.workload = "Pod/ns/gone", .admission = admission()};
  fact.admission.uid = fmt::format("uid-p{}", of);
  if (chance(30)) fact.refused = "no", fact.until = 7;
  if (chance(30)) fact.ahead.push_back(ahead());
  if (chance(30)) fact.workload = fmt::format("PodGroup/ns/g{}", below(3));
  if (chance(70)) return fact;
  fact.workload = fmt::format("Job/ns/j{}", of);
  if (!chance(20)) fact.admission.uid = fmt::format("uid-j{}", of);
  fact.generation = below(3);
  return fact;
}

TopologyFact RandomFacts::topology() {
  if (chance(20)) return {};
  return {{"zone", "rack"}};
}

ElasticFact RandomFacts::elastic() {
  ElasticFact fact;
  for (const char* pool : {"train", "inf"})
    if (chance(30)) fact.max_nodes.emplace_back(pool, 1 + below(6));
  return fact;
}

ClusterFacts RandomFacts::cluster() {
  ClusterFacts facts;
  queues_ = 1 + below(4);
  facts.topology = topology();
  for (int i = 0, n = below(9); i < n; ++i) facts.refusals.insert(refusal());
  for (int i = 0, n = 1 + below(5); i < n; ++i) facts.nodes.push_back(node(i));
  for (int i = 0; i < queues_; ++i) facts.queues.push_back(queue(i));
  for (int i = 0, n = 2 + below(8); i < n; ++i) facts.jobs.push_back(job(i));
  for (int i = 0, n = below(7); i < n; ++i) facts.pods.push_back(pod(i));
  if (chance(15)) facts.ledger.push_back(ledger());
  if (chance(15)) facts.restarts.push_back(restart());
  // Objects may already show an entry that is in flight.
  for (JobFact& job : facts.jobs)
    for (const LedgerFact& entry : facts.ledger)
      if (entry.workload == job.workload && chance(30)) job.admitted = entry.admission;
  facts.elastic = elastic();
  for (int i = 0; i < 3; ++i)
    if (chance(25)) facts.kept.insert(fmt::format("PodGroup/ns/g{}", i));
  return facts;
}

}  // namespace berth::queue::test
