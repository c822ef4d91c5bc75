// SPDX-License-Identifier: Apache-2.0
// PreemptionPlay: what becomes of a little cluster in which nobody arrives, ends or edits anything.
// Cycles decide; who is displaced leaves and waits again; who is let go is bound: each as late and
// in whatever order the play has it.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/queue/cluster_facts.h"

namespace berth::queue::test {

class PreemptionPlay {
 public:
  // choose(n): one of n things that can happen next.
  using Choose = std::function<std::size_t(std::size_t)>;
  PreemptionPlay(ClusterFacts facts, Choose choose);

  // Jobs and pods that come. What was before them counts no more.
  void arrive(const ClusterFacts& more);
  // One cycle, carried out. Whether it decided anything.
  bool decide();
  // Until nothing can happen any more, but for so many steps at the most. Whether it came to rest.
  bool run(int steps);

  // Who holds quota, but for whom the ledger takes back. By name.
  std::set<std::string> running() const;
  const ClusterFacts& facts() const { return facts_; }

  struct Decision {
    std::string workload;
    std::vector<std::string> displaced;
  };
  const std::vector<Decision>& decisions() const { return decisions_; }
  // What must not be: that a decision leads back to where another one led before, and that somebody
  // is let go to nodes where others still are.
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
  FactsIndex index_;  // of these
  Choose choose_;
  std::int64_t now_ = 1000;
  std::int64_t again_ = 0;  // when somebody has run for as long as he may
  bool changed_ = true;     // since the last cycle
  int made_ = 0;            // pods
  std::vector<Decision> decisions_;
  std::vector<std::string> faults_;
  std::set<std::set<std::string>> seen_;
};

}  // namespace berth::queue::test
