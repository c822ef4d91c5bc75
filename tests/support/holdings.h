// SPDX-License-Identifier: Apache-2.0
// Holdings: the GPUs that queues hold, computed from the audit log by the admission records on
// Jobs, on pods and in the ledger. Where the log is ambiguous, it counts too much rather than too
// little.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apis/base/time.h"
#include "tests/support/audit.h"

namespace berth::test {

// When the sender sent the event's request.
Time time_of(const AuditEvent& event);

// An admission in the annotation gpu.berth.dev/admitted or in the ledger.
struct Recorded {
  std::string uid, queue, cohort, pool, since;
  long long pods = 1;
  std::map<std::string, long long> amounts;  // by quota resource, summed over all pods
};

// nullopt if the text is no admission record.
std::optional<Recorded> read_recorded(const std::string& json);

// How long an object counts, and from when it counts again: a terminating object counts only if it
// hangs.
struct Stay {
  Time until = Time::max();
  Time again = Time::max();

  bool counts(Time at) const { return at < until || at >= again; }
  void ends(Time at);
};

// How long after a change berth may still not know of it.
inline constexpr std::chrono::seconds kHeardWithin{2};

struct HeldPod {
  std::string uid, ns, controller, group;
  std::optional<Recorded> record;
  bool bound = false, finished = false;
  std::map<std::string, long long> asks;  // amounts of extended resources
  Stay stay;
};

class Holdings {
 public:
  // Events that the server applied, in order.
  void take(const AuditEvent& event);

  // By "namespace/name"; null if the log has not shown the pod.
  const HeldPod* pod(const std::string& key) const;
  std::string cohort_of(const std::string& queue) const;
  // Whether the queue holds more than its nominal quota of any resource of this admission.
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
  using Key = std::pair<std::string, std::string>;  // a quota's resource and pool

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
  std::map<std::string, HeldJob> entries_;  // in the ledger, by uid and time
};

}  // namespace berth::test
