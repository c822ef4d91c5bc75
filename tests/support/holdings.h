// SPDX-License-Identifier: Apache-2.0
// Holdings: what queues hold, followed through the audit log by the records of admissions: on Jobs,
// on pods and in the ledger. Where the log leaves it open, it counts too much, not too little.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apis/time.h"
#include "tests/support/audit.h"

namespace berth::test {

// When an event's sender asked for it.
Time time_of(const AuditEvent& event);

// An admission as the annotation gpu.berth.dev/admitted or the ledger has it.
struct Recorded {
  std::string uid, queue, cohort, pool, since;
  long long pods = 1;
  std::map<std::string, long long> amounts;  // by quota resource, for all those pods
};

// Nothing where nothing can be read.
std::optional<Recorded> read_recorded(const std::string& json);

// Until when an object counts, and from when on again: a terminating one counts only if it hangs.
struct Stay {
  Time until = Time::max();
  Time again = Time::max();

  bool counts(Time at) const { return at < until || at >= again; }
  void ends(Time at);
};

// The time in which berth may not have heard of a change yet.
inline constexpr std::chrono::seconds kHeardWithin{2};

struct HeldPod {
  std::string uid, ns, controller, group;
  std::optional<Recorded> record;
  bool bound = false, finished = false;
  std::map<std::string, long long> asks;  // extended resources
  Stay stay;
};

class Holdings {
 public:
  // Events that the server took, in order.
  void take(const AuditEvent& event);

  // By "namespace/name"; null if the log has not shown it.
  const HeldPod* pod(const std::string& key) const;
  std::string cohort_of(const std::string& queue) const;
  // Whether the queue has more than its nominal quota of anything that this admission has.
  bool is_over_nominal(const Recorded& admission, Time at) const;

 private:
  struct HeldJob {
    Recorded record;
    Stay stay;
  };
  struct Queue {
    std::string cohort;
    std::map<std::pair<std::string, std::string>, long long> nominal;  // by resource and pool
  };
  using Key = std::pair<std::string, std::string>;  // of a quota: its resource and its pool

  void take_queue(const AuditEvent& event);
  void take_job(const AuditEvent& event);
  void take_pod(const AuditEvent& event);
  void take_ledger(const AuditEvent& event);
  bool is_shown(const Recorded& entry) const;
  long long held(const std::string& queue, const Key& key, Time at) const;
  long long held_by_pods(const std::string& queue, const Key& key, Time at) const;

  std::map<std::string, Queue> queues_;
  std::map<std::string, HeldJob> jobs_;  // by uid
  std::map<std::string, HeldPod> pods_;
  std::map<std::string, HeldJob> entries_;  // of the ledger, by uid and time
};

}  // namespace berth::test
