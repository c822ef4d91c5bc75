// SPDX-License-Identifier: Apache-2.0
// IdleInvariants: what must hold when berth reclaims idle GPUs (docs/observe.md), checked like the
// others (invariants.h) on the store's truth and on the pods' real use of their GPUs, even if no
// berth was running:
//   Busy      no workload is stopped as idle that was active within the window
//   Young     no workload is stopped before it has run for the window and the warning
//   Blind     no workload is stopped whose GPUs were not measured for too long
//   Warned    no workload is stopped before the announced time, a full warning after the notice;
//             after long activity it needs a new notice
//   Unasked   with OnPressure a workload is stopped only for an entry of the ledger
//   Fewest    no entry reclaims from more workloads than needed, where GPUs are equal
//   Turns     a workload that lost GPUs does not displace the one that got them
//   Held      with Always a Job stays out of its queue until a user queues it again
// In the end, with Always, no workload remains that has been idle for long.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/base/time.h"
#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/io/loop.h"
#include "controller/queue/facts/facts.h"
#include "controller/sim/world/store.h"
#include "tests/explore/use_history.h"

namespace berth::explore {

class IdleInvariants {
 public:
  // `news_takes`: berth may not know of a change that is younger than this.
  void take(const sim::Change& change, bool by_berth, MonotonicTime now, Time wall,
            std::chrono::nanoseconds news_takes);
  UseHistory& history() { return history_; }

  const std::vector<std::string>& broken() const { return broken_; }
  // The fault in the state once berth is at rest. Empty: none.
  std::string unstill(MonotonicTime now) const;

 private:
  struct Moment {  // when a stop arrives, which berth sent a while ago
    MonotonicTime now;
    Time wall;
    std::chrono::nanoseconds news_takes;
  };
  struct KnownPod {
    MonotonicTime came{0};
    sim::ObjectPtr object{};
    std::string node{};
    MonotonicTime bound{0};
    std::string warning{};  // the present one
    MonotonicTime warned{0};
  };

  void take_policy(const sim::Change& change, MonotonicTime now);
  void take_ledger(const sim::Change& change, bool by_berth);
  void take_pod(const sim::Change& change, bool by_berth, const Moment& at);
  void judge_warning(const KnownPod& pod, const Moment& at);
  void judge_job(const sim::Change& change, const Moment& at);
  void judge_pod(const sim::Change& change, const Moment& at);
  void judge_stop(const std::string& workload, const KnownPod& pod, const Moment& at);
  void judge_entry(const std::string& uid, const queue::LedgerFact& entry);
  // The entry that reclaims, as idle, what was admitted at that time; null: none.
  const queue::LedgerFact* taker_of(const std::string& workload, std::int64_t since) const;
  std::vector<const KnownPod*> running(std::string_view workload) const;

  std::chrono::nanoseconds worked(const KnownPod& pod, MonotonicTime from, MonotonicTime to) const;
  std::chrono::nanoseconds window() const;
  // How long a measurement counts.
  std::chrono::nanoseconds lasts() const;
  void complain(std::string_view invariant, const std::string& what);

  std::optional<GPUClusterPolicy> policy_;
  MonotonicTime policy_since_{0};  // when its spec last changed
  UseHistory history_;
  std::map<std::string, KnownPod> pods_;                // by NAMESPACE/NAME
  std::map<std::string, queue::LedgerFact> entries_;    // by uid
  std::map<std::string, queue::LedgerFact> withdrawn_;  // their last content while they reclaimed
  std::map<std::string, std::string> gave_way_;         // by Job's uid: who got its GPUs
  std::vector<std::string> broken_;
};

}  // namespace berth::explore
