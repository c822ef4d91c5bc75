// SPDX-License-Identifier: Apache-2.0
// Reclaims: the pods that queues reclaim or preempt, computed from the audit log. berth evicts the
// pods that an admission displaces. It deletes pods only if they belong to another queue and
// budgets still protect them after reclaimTimeout, and never pods within their queue's nominal
// quota.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/holdings.h"

namespace berth::test {

class Reclaims {
 public:
  // Events that the server applied, in order.
  void take(const AuditEvent& event);

  // Whether a queue reclaims or preempts the pod: alone, with its whole gang, or by HoldAndDrain.
  bool takes_back(const std::string& pod) const;
  // Why this deletion of the pod is not a late reclaim; empty: it is one.
  std::string why_not_late(const std::string& pod, const AuditEvent& deletion) const;

 private:
  struct Displaced {
    std::string workload, uid, since;
    bool idle = false;
    auto operator<=>(const Displaced&) const = default;
  };
  struct Entry {
    Recorded admission;
    std::vector<Displaced> displaced;
    Stay stay;
  };
  struct Times {  // a queue's preemption settings
    Duration notice{};
    Duration timeout = std::chrono::minutes(10);  // the CRD's default
  };

  void take_queue(const AuditEvent& event);
  void take_ledger(const AuditEvent& event);
  static bool is(const Displaced& displaced, const HeldPod& pod);
  std::string why_not_late(const HeldPod& pod, const Entry& entry, Time at) const;

  Holdings holdings_;
  std::map<std::string, Times> times_;    // by queue
  std::map<std::string, Entry> entries_;  // in the ledger, by uid and time
  std::set<Displaced> displaced_;         // since the start of the log
  std::set<std::string> recalled_;        // the times of requeued admissions
  std::set<std::string> drained_;         // queues that have drained their workloads at least once
};

}  // namespace berth::test
