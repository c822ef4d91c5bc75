// SPDX-License-Identifier: Apache-2.0
// IdleInvariants: what must hold of those whose GPUs are taken back for being idle
// (docs/observe.md), judged like the rest (invariants.h) on the store's truth and on what their
// pods did with their GPUs, whoever was there to see it:
//   Busy      nobody is stopped as idle who worked within the window
//   Young     or who has not been there for the window and the warning
//   Blind     or of whose GPUs nothing has been told for so long that nobody knows
//   Warned    or before the time that it was told, which is a whole warning after the telling; who
//             has worked for long since is told anew
//   Unasked   under OnPressure nobody is stopped but for an entry of the ledger
//   Fewest    and no entry takes one more than it needs, where GPUs are alike
//   Turns     who gave GPUs up does not displace who has them
//   Held      under Always a Job stays out of its queue until somebody lets it in
//   In the end nothing stays that has been idle for long, under Always.
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
  // `news_takes`: how long ago a change may be that berth has not heard of.
  void take(const sim::Change& change, bool by_berth, MonotonicTime now, Time wall,
            std::chrono::nanoseconds news_takes);
  UseHistory& history() { return history_; }

  const std::vector<std::string>& broken() const { return broken_; }
  // What is not in order now that berth is at rest. Empty: nothing.
  std::string unstill(MonotonicTime now) const;

 private:
  struct Moment {  // at which a stop arrives that berth sent a while ago
    MonotonicTime now;
    Time wall;
    std::chrono::nanoseconds news_takes;
  };
  struct KnownPod {
    MonotonicTime came{0};
    sim::ObjectPtr object{};
    std::string node{};
    MonotonicTime bound{0};
    std::string warning{};  // as it stands
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
  // The entry that takes back what was admitted then, for being idle; null: none does.
  const queue::LedgerFact* taker_of(const std::string& workload, std::int64_t since) const;
  std::vector<const KnownPod*> running(std::string_view workload) const;

  std::chrono::nanoseconds worked(const KnownPod& pod, MonotonicTime from, MonotonicTime to) const;
  std::chrono::nanoseconds window() const;
  // What is measured counts for so long.
  std::chrono::nanoseconds lasts() const;
  void complain(std::string_view invariant, const std::string& what);

  std::optional<GPUClusterPolicy> policy_;
  MonotonicTime policy_since_{0};  // since its spec is what it is
  UseHistory history_;
  std::map<std::string, KnownPod> pods_;                // by NAMESPACE/NAME
  std::map<std::string, queue::LedgerFact> entries_;    // by uid
  std::map<std::string, queue::LedgerFact> withdrawn_;  // as they were while they took somebody
  std::map<std::string, std::string> gave_way_;         // by uid of a Job, to which workload
  std::vector<std::string> broken_;
};

}  // namespace berth::explore
