// SPDX-License-Identifier: Apache-2.0
// Invariants: what must hold at every change of the store, whatever goes wrong around berth. They
// check the store's truth, change by change, and the requests that berth sends, never its caches.
// The names are those of docs/seeded-bugs.md:
//   Budget    nodes that berth has cordoned ≤ maxUnavailable, at every revision
//   Slot      berth claims a node only with its slot in the ledger, and then cordons it or frees
//             the slot soon
//   Relabel   mig.config is written only on a node that berth has cordoned, without GPU pods and
//             settled; the same write removes the old state, and mig-manager's file has the config
//   Config    mig-manager's file loses no config that a node's label names
//   Once      at most one relabel per node, claim, attempt and value
//   Unseen    berth replaces no node record and no ledger that was stored after its write was sent,
//             because it can't have known it
//   Verified  a node returns only after allocatable has been right for the required time
//   Drain     berth evicts pods with their uid, from nodes that it drains for a reason; DELETE only
//             where the layout forces, never with a grace period of 0
//   Patience  the present leader forces a pod off only after it has itself waited for the timeout
//   Cordon    a cordon and its record are one write; berth uncordons only its own cordons, and no
//             node that a user holds. In the end (stillness.h) berth's cordons are removed, or
//             their record says that they are berth's
//   Fields    berth writes nothing else on nodes, and on pods its gate, its record, pool and node
//   Others    berth does not touch nodes that are held, being upgraded or about to be deleted; it
//             overwrites a foreign mig.config at most three times
//   Needed    berth claims no node whose GPUs are already as its layout asks
//   Capacity  berth never reduces guarded capacity below minAvailable
//   Lease     no process writes after its renew deadline, except for certificates, which every
//             replica manages
//   Told      a layout reports its generation, and each unavailable node, within minutes
//   Status    observedGeneration is never in the future; transition times change with statuses, and
//             only forward
//   Finalizer none on nodes and pods; a deleted layout leaves no rollout in progress
//   Bounded   annotations have a maximum size, writes and requests a maximum rate
// Further invariants are in owner_invariants.h (controllers of pods), pool_invariants.h,
// health_invariants.h (broken GPUs), stop_invariants.h, queue_invariants.h, idle_invariants.h,
// admission_invariants.h (the webhook) and certificate_invariants.h.
//
// Another client's change counts from when berth can have known it before it sent its write: after
// a second, or after a minute once watches or requests have been late. Tests inside a patch have no
// such grace.
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
#include "tests/explore/dead_node_invariants.h"
#include "tests/explore/health_invariants.h"
#include "tests/explore/pool_invariants.h"
#include "tests/explore/retreat_invariants.h"
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

  // Call this after each change of the store.
  void take(const sim::Change& change);
  // Call this for each request that a process of berth sends.
  void take_request(const std::string& user, const HttpRequest& request);
  // The node's gauges from now on; null: the machine no longer exists.
  void take_gauges(const std::string& node, const sim::GaugedNode* gauges) {
    health_.take_gauges(node, gauges, clock_.now());
  }
  // Requests and frames between berth and the API server are late from now on, or for a while.
  void expect_delays();
  // How long it takes until berth knows of a change.
  std::chrono::nanoseconds news_takes() const;

  // For example "Budget: 2 nodes are out by berth, a100 allows 1 (Node/n2 by berth-0)". Empty: all
  // held.
  const std::vector<std::string>& broken() const { return broken_; }
  const Truth& truth() const { return truth_; }
  const PoolInvariants& pools() const { return pools_; }
  const HealthInvariants& health() const { return health_; }
  const DeadNodeInvariants& dead_nodes() const { return dead_nodes_; }
  CertificateInvariants& certificates() { return certificates_; }
  // The time and text of berth's last change of anything except Leases and Events.
  MonotonicTime last_write() const { return last_write_; }
  const std::string& last_write_was() const { return last_write_was_; }

 private:
  // `before`: the node before the change.
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
  // The sender knew every fact that was true at this time and still is.
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
  DeadNodeInvariants dead_nodes_;
  RetreatInvariants retreats_{truth_};
  CertificateInvariants certificates_;
  std::vector<std::string> broken_;
  std::string by_;                                     // the change or request being checked
  MonotonicTime sent_at_{0};                           // when it was sent
  std::map<std::string, MonotonicTime> sent_;          // node records, by process, node and text
  std::map<std::string, MonotonicTime> ledger_sent_;   // the last write of the ledger, by process
  std::map<std::string, MonotonicTime> relabel_sent_;  // by node's uid
  std::optional<MonotonicTime> delayed_at_;
  std::map<std::string, MonotonicTime> untold_;  // unavailable nodes without a report
  std::map<std::pair<std::string, std::int64_t>, MonotonicTime> claims_;  // of uncordoned nodes
  MonotonicTime last_write_{0};
  std::string last_write_was_;
  std::map<std::string, std::set<std::string>> relabels_;  // by node's uid
  std::map<std::string, int> overwritten_;  // foreign mig.configs, by node and layout generation
  std::map<std::int64_t, int> writes_;      // by minute
  std::map<std::int64_t, int> requests_;
};

}  // namespace berth::explore
