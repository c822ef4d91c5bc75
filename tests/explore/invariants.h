// SPDX-License-Identifier: Apache-2.0
// Invariants: what must hold at every change of the store, whatever goes wrong around berth. Judged
// on the store's truth, change by change, and on the requests that leave berth; never on its
// caches. The names are those of docs/seeded-bugs.md:
//   Budget    nodes that berth has cordoned ≤ maxUnavailable, at every revision
//   Slot      a node is taken only with its slot in the ledger, and taken or given back soon after
//   Relabel   mig.config is written on a cordoned node that is berth's, empty of GPU pods, settled;
//             with the old state taken away and the config in the agents' file
//   Config    the agents' file loses no config that a node's label names
//   Once      at most one relabel per node, claim, attempt and value
//   Unseen    no record of a node and no ledger is replaced that was put there after the write had
//             left, so that whoever sent it cannot have known it
//   Verified  a node returns only after allocatable has stood for as long as it must
//   Drain     pods leave by eviction with their uid, from nodes that berth has emptied for a
//             reason; DELETE only where the layout forces, never with a grace period of 0
//   Patience  nobody is forced off before the one who leads has waited for the layout's timeout
//   Cordon    a cordon and its record are one write; only what berth cordoned is uncordoned, and
//             nothing that a person holds. In the end (stillness.h) what berth cordoned is
//             uncordoned, or its record says that it is berth's
//   Fields    berth writes nothing else on nodes, and on pods its gate, its record, pool and node
//   Others    hands off nodes that are held, being upgraded or about to be deleted; a foreign
//             mig.config is overwritten at most three times
//   Needed    no node is taken whose GPUs are as its layout asks, under the config that it came
//   with Capacity  guarded capacity never falls below minAvailable by berth Lease     no write
//   leaves a process that is past its renew deadline, but those of certificates,
//             which every replica keeps
//   Told      a layout tells of its generation, and of each node that is out, within minutes
//   Status    observedGeneration is no promise of the future; transition times move with statuses,
//             and forward
//   Finalizer none on nodes and pods; a layout that goes leaves nothing under way
//   Bounded   annotations have a size, writes and requests a rate
// and those of controllers of pods, in owner_invariants.h, of pools, in pool_invariants.h, of
// broken GPUs, in health_invariants.h, of the stop, in stop_invariants.h, of queues, in
// queue_invariants.h, of idle GPUs, in idle_invariants.h, of the webhook, in
// admission_invariants.h, and of its certificates, in certificate_invariants.h.
//
// Somebody else's deed counts from when the news of it can have reached berth before it sent what
// is judged: after a second, or after a minute once watches or requests have come late. The tests
// within a patch know no such grace.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/core/settings.h"
#include "controller/io/transport.h"
#include "controller/sim/world/store.h"
#include "controller/sim/world/virtual_clock.h"
#include "tests/explore/certificate_invariants.h"
#include "tests/explore/health_invariants.h"
#include "tests/explore/pool_invariants.h"
#include "tests/explore/stop_invariants.h"
#include "tests/explore/truth.h"

namespace berth::explore {

class Invariants {
 public:
  struct Bounds {
    std::chrono::nanoseconds renew_deadline = std::chrono::seconds(10);
    int writes_per_minute = 150;
    int requests_per_minute = 600;
  };
  Invariants(const sim::VirtualClock& clock, const Settings& settings, Bounds bounds);

  // Each change of the store, after it.
  void take(const sim::Change& change);
  // Each request that a process of berth's sends.
  void take_request(const std::string& user, const HttpRequest& request);
  // What a node's GPUs show from now on; null: there is no such machine any more.
  void take_gauges(const std::string& node, const sim::GaugedNode* gauges) {
    health_.take_gauges(node, gauges, clock_.now());
  }
  // What goes to and fro between berth and the API server is late from now on, or for a while.
  void expect_delays();
  // Until who acts can have heard of a change.
  std::chrono::nanoseconds news_takes() const;

  // "Budget: 2 nodes are out by berth, a100 allows 1 (Node/n2 by berth-0)". Empty: all is well.
  const std::vector<std::string>& broken() const { return broken_; }
  const Truth& truth() const { return truth_; }
  const PoolInvariants& pools() const { return pools_; }
  const HealthInvariants& health() const { return health_; }
  CertificateInvariants& certificates() { return certificates_; }
  // When berth last changed anything but a lease or an event; what it was.
  MonotonicTime last_write() const { return last_write_; }
  const std::string& last_write_was() const { return last_write_was_; }

 private:
  // Each is given the node as it was.
  void judge_node(const sim::Change& change, const TrueNode& before);
  void judge_taking(const std::string& name, const TrueNode& before, const TrueNode& after);
  void judge_budget(const NodeRollout& record);
  void judge_need(const std::string& name, const TrueNode& before, const NodeRollout& record);
  void judge_capacity(const std::string& name, const TrueNode& before);
  void judge_unseen(const sim::Change& change);
  void judge_agent_file(const sim::Change& change);
  void judge_uncordon(const std::string& name, const TrueNode& before, const TrueNode& after);
  void judge_relabel(const std::string& name, const TrueNode& before, const TrueNode& after);
  void judge_fields(const sim::Change& change);
  void judge_pod(const sim::Change& change);
  void judge_eviction(const HttpRequest& request, const std::string& pod);
  void judge_deletion(const HttpRequest& request, const std::string& pod);
  void judge_patience(const std::string& pod);
  void judge_removal(const std::string& pod);
  bool is_taken_back(const std::string& pod) const;
  void judge_layout(const sim::Change& change);
  void judge_conditions(const sim::Change& change);
  void judge_lease(const std::string& user);
  void judge_told();
  void judge_claims(MonotonicTime steady);
  void take_node_patch(const std::string& user, const HttpRequest& request);
  void count(std::map<std::int64_t, int>& per_minute, int bound, std::string_view what);
  void complain(std::string_view invariant, const std::string& what);
  // What was so then and still is, whoever sent what is judged has heard of.
  MonotonicTime heard_until() const { return sent_at_ - news_takes(); }
  bool is_old_news(const std::optional<MonotonicTime>& since) const;
  MonotonicTime time_of_sending(const sim::Change& change) const;

  const sim::VirtualClock& clock_;
  const Settings settings_;
  const Bounds bounds_;
  Truth truth_;
  PoolInvariants pools_;
  HealthInvariants health_;
  StopInvariants stop_;
  CertificateInvariants certificates_;
  std::vector<std::string> broken_;
  std::string by_;                                     // the change or request that is being judged
  MonotonicTime sent_at_{0};                           // when that left
  std::map<std::string, MonotonicTime> sent_;          // records, by process, node and text
  std::map<std::string, MonotonicTime> ledger_sent_;   // the last write of the ledger, by process
  std::map<std::string, MonotonicTime> relabel_sent_;  // by node's uid
  std::optional<MonotonicTime> delayed_at_;
  std::map<std::string, MonotonicTime> untold_;  // nodes that are out, since nothing tells of them
  std::map<std::pair<std::string, std::int64_t>, MonotonicTime> claims_;  // of nodes not yet taken
  MonotonicTime last_write_{0};
  std::string last_write_was_;
  std::map<std::string, std::set<std::string>> relabels_;  // by node's uid
  std::map<std::string, int> overwritten_;  // foreign mig.configs, by node and layout generation
  std::map<std::int64_t, int> writes_;      // by minute
  std::map<std::int64_t, int> requests_;
};

}  // namespace berth::explore
