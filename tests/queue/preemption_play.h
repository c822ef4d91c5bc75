// SPDX-License-Identifier: Apache-2.0
// PreemptionPlay: simulates a small cluster without arrivals, ends and edits. Cycles decide;
// preempted workloads leave and queue again; released pods are bound. `choose` picks the order of
// these events.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/queue/cluster_facts.h"

namespace berth::queue::test {

class PreemptionPlay {
 public:
  // choose(n): the index of one of n possible events.
  using Choose = std::function<std::size_t(std::size_t)>;
  PreemptionPlay(ClusterFacts facts, Choose choose);

  // New Jobs and pods. Earlier decisions no longer count for faults().
  void arrive(const ClusterFacts& more);
  // Runs one cycle and carries it out. Returns whether it decided anything.
  bool decide();
  // Runs until no event is possible, at most so many steps. Returns whether it came to rest.
  bool run(int steps);

  // The workloads with quota, by name, except those that the ledger withdraws.
  std::set<std::string> running() const;
  const ClusterFacts& facts() const { return facts_; }

  struct Decision {
    std::string workload;
    std::vector<std::string> displaced;
  };
  const std::vector<Decision>& decisions() const { return decisions_; }
  // Violations: a decision led back to an earlier state, or a workload was released to nodes where
  // others still run.
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  using Event = std::function<void()>;
  std::vector<Event> possible();
  void begin_to_leave(const std::string& workload);
  void settle(LedgerFact& entry);
  void let_go(LedgerFact entry);
  void remove(const PodFact& pod);
  void make_pod(const PodFact& like, PodState state);
  std::vector<std::string> nodes_for(const PodFact& pod) const;
  bool has_room(const NodeFact& node, const PodFact& pod) const;
  bool is_leaving(const PodFact& pod) const;
  JobFact* job(const std::string& workload);
  template <class Fact>
  void put(const Fact& fact);

  ClusterFacts facts_;
  FactsIndex index_;  // of facts_
  Choose choose_;
  std::int64_t now_ = 1000;
  std::int64_t again_ = 0;  // when a workload reaches its minimum run time
  bool changed_ = true;     // since the last cycle
  int made_ = 0;            // number of pods created
  std::vector<Decision> decisions_;
  std::vector<std::string> faults_;
  std::set<std::set<std::string>> seen_;
};

}  // namespace berth::queue::test
