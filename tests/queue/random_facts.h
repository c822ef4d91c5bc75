// SPDX-License-Identifier: Apache-2.0
// Random small clusters with many problems at once: over-full cohorts, deleted queues, unavailable
// nodes, incomplete gangs, pods created without review, admissions that no quota covers.
#pragma once

#include <random>

#include "tests/queue/cluster_facts.h"

namespace berth::queue::test {

class RandomFacts {
 public:
  explicit RandomFacts(std::uint64_t seed) : random_(seed) {}
  ClusterFacts cluster();

  NodeFact node(int i);
  QueueFact queue(int i);
  JobFact job(int i);
  PodFact pod(int i);  // of a Job, of a group, alone, or without owner
  LedgerFact ledger();
  RestartFact restart();
  TopologyFact topology();
  ElasticFact elastic();
  std::pair<std::string, std::string> refusal();  // (rules, node)

  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }

 private:
  Amounts requests();
  AdmissionFact admission();
  void cover(AdmissionFact& fact);
  PreemptionFact preemption();
  AheadFact ahead();
  std::string pool();
  PoolNames pool_names();
  std::string queue_name();
  std::string rules();
  TopologyWish wish();

  std::mt19937_64 random_;
  int queues_ = 4;
};

}  // namespace berth::queue::test
