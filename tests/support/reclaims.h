// SPDX-License-Identifier: Apache-2.0
// Reclaims: the pods that queues take back, followed through the audit log. berth evicts the pods
// that an admission displaces. It deletes pods of another queue that only budgets keep, once
// reclaimTimeout is over; never before, and never what their queue's nominal quota pays for.
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
  // Events that the server took, in order.
  void take(const AuditEvent& event);

  // Whether a queue takes the pod back: by displacement, with its whole gang, or by a drain.
  bool takes_back(const std::string& pod) const;
  // Why this deletion of the pod is no late reclaim; empty: it is one.
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
  struct Times {  // of a queue's preemption
    Duration notice{};
    Duration timeout = std::chrono::minutes(10);  // as the CRD's default says
  };

  void take_queue(const AuditEvent& event);
  void take_ledger(const AuditEvent& event);
  static bool is(const Displaced& displaced, const HeldPod& pod);
  std::string why_not_late(const HeldPod& pod, const Entry& entry, Time at) const;

  Holdings holdings_;
  std::map<std::string, Times> times_;    // by queue
  std::map<std::string, Entry> entries_;  // of the ledger, by uid and time
  std::set<Displaced> displaced_;         // ever
  std::set<std::string> recalled_;        // admissions by their time that are over
  std::set<std::string> drained_;         // queues that took back what runs, once at least
};

}  // namespace berth::test
