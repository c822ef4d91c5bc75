// SPDX-License-Identifier: Apache-2.0
// DeadNodeInvariants: what must hold of pods that a queue admitted and that can't leave a node that
// is not ready, judged like the rest (invariants.h) on the store's truth:
//   Lost      berth takes a pod for lost only after its grace period, on a node that is not ready
//   Force     it deletes a pod by force only from such a node, if the pod allows it and its queue
//             has waited for as long as it says
//   Healthy   it suspends no Job that has a lost pod and others that are Ready, while all other
//             nodes are in service
//   Replaced  in the end each pod that can't leave is marked, and its Job may replace it
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "apis/base/time.h"
#include "controller/io/loop.h"
#include "controller/sim/world/store.h"

namespace berth::explore {

class DeadNodeInvariants {
 public:
  using Complain = std::function<void(std::string_view invariant, const std::string& what)>;

  void take(const sim::Change& change, bool by_berth, MonotonicTime now, Time wall,
            std::chrono::nanoseconds news_takes, const Complain& complain);
  // Whether berth may delete the pod NAMESPACE/NAME without a grace period.
  bool may_force(const std::string& pod, MonotonicTime now, Time wall,
                 std::chrono::nanoseconds news_takes) const;
  // Returns a fault that is left now that berth is at rest; empty: none.
  std::string unstill(Time wall) const;

 private:
  struct KnownNode {
    bool ready = false;
    bool in_service = false;
    MonotonicTime since{0};  // since it is so
  };
  void take_node(const sim::Change& change, MonotonicTime now);
  void judge_mark(const sim::Change& change, MonotonicTime now, Time wall,
                  std::chrono::nanoseconds news_takes, const Complain& complain) const;
  void judge_suspension(const sim::Change& change, MonotonicTime now,
                        const Complain& complain) const;
  // Whether the node is not ready, or became ready so recently that berth may not know it.
  bool is_dead(const std::string& node, MonotonicTime now,
               std::chrono::nanoseconds news_takes) const;
  bool others_are_in_service(MonotonicTime now) const;

  std::map<std::string, KnownNode> nodes_;
  std::map<std::string, sim::ObjectPtr> pods_;  // by NAMESPACE/NAME
  std::map<std::string, sim::ObjectPtr> jobs_;
  std::map<std::string, Duration> force_after_;  // by queue
  bool edited_ = false;                          // a user changed the requests of a Job
};

}  // namespace berth::explore
