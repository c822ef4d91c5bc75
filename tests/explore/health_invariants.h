// SPDX-License-Identifier: Apache-2.0
// HealthInvariants: what must hold when GPUs break, checked like the others (invariants.h) on the
// store's truth and on the GPUs' real faults, even if no berth was running:
//   Sick      berth cordons a node for its health only for a recent fault of its GPUs that did not
//             begin before a user put the node back. These are no faults: what a program did, an
//             old value of a gauge, silence, heat that has not lasted for minutes, and claims from
//             any other source than the node's exporter
//   Fraction  at most spec.health.maxUnhealthyFraction of a pool is out of service for its health
//   Early     a node returns only after the required time without faults, which doubles each time
//   Blind     no node returns while fewer of its GPUs are reported than before
// In the end a node with a lasting fault is out of service, and no node is out longer than
// required.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/disruption/health_record.h"
#include "controller/io/loop.h"
#include "controller/sim/world/store.h"
#include "tests/explore/gauge_history.h"

namespace berth::explore {

// Whether berth's record on the node says that it is out of service for its health.
bool is_out_for_health(const nlohmann::json* node);

class HealthInvariants {
 public:
  using Complain = std::function<void(std::string_view invariant, const std::string& what)>;

  // The node's gauges from now on; null: the machine no longer exists.
  void take_gauges(const std::string& node, const sim::GaugedNode* gauges, MonotonicTime now);
  void take(const sim::Change& change, bool by_berth, MonotonicTime now, Time wall,
            std::chrono::nanoseconds news_takes, const Complain& complain);

  // Whether berth may evict pods from the node for its health, or might do so recently.
  bool may_drain(const std::string& node, MonotonicTime heard_until) const;
  // The fault in the state once berth is at rest. Empty: none.
  std::string unstill(MonotonicTime now) const;

 private:
  struct KnownNode {
    std::string uid;
    std::map<std::string, std::string> labels;
    bool cordoned = false;
    bool others = false;  // held by a user, in a rollout, or about to be removed
    bool edited = false;  // a user has changed berth's record
    std::optional<HealthRecord> record;
    bool out = false;
    MonotonicTime out_since{0};                 // its last removal from service
    std::optional<MonotonicTime> back_at;       // when it returned
    std::optional<MonotonicTime> cause;         // the earliest fault for its cordon
    std::optional<MonotonicTime> overruled_at;  // when a user last put it back
    std::int64_t cordons = 0;                   // in berth's record
  };
  void take_policy(const sim::Change& change, MonotonicTime now);
  void judge_cordon(const std::string& name, KnownNode& node, const HealthRecord& record,
                    MonotonicTime now, MonotonicTime sent, std::chrono::nanoseconds news_takes,
                    const Complain& complain);
  void judge_return(const std::string& name, const KnownNode& node, MonotonicTime now,
                    const Complain& complain) const;
  const PoolSpec* pool_of(const KnownNode& node) const;
  // For the nodes of its pool.
  std::int64_t limit(const PoolSpec* pool) const;
  std::chrono::nanoseconds wait_after(std::int64_t cordons) const;
  // When the fault began; gaps of up to `gap` do not end it.
  MonotonicTime begin_of(const std::string& name, const ShownFault& fault,
                         std::chrono::nanoseconds gap) const;
  bool is_a_cause(const std::string& name, const KnownNode& node, const ShownFault& fault,
                  MonotonicTime sent) const;
  bool shows_what_stands(const std::string& name, const KnownNode& node) const;
  std::string judge_rest(const std::string& name, const KnownNode& node, MonotonicTime now) const;

  std::optional<GPUClusterPolicy> policy_;
  MonotonicTime policy_since_{0};  // when its spec last changed
  GaugeHistory history_;
  std::map<std::string, KnownNode> nodes_;
};

}  // namespace berth::explore
