// SPDX-License-Identifier: Apache-2.0
// HealthInvariants: what must hold of what berth does about GPUs that break, judged like the rest
// (invariants.h) on the store's truth and on what the GPUs showed, whoever was there to see it:
//   Sick      a node is cordoned for its health only for a fault that its GPUs have shown a short
//             while ago, and that does not last since before a person put the node back; neither
//             what a program did, nor what a gauge has shown for long, nor silence is one, nor heat
//             that has not lasted for minutes, nor what anybody else than the node's exporter
//             claims
//   Fraction  no more of a pool than spec.health.maxUnhealthyFraction is out for its health
//   Early     a node goes back when nothing has been shown for as long as it must, each time twice
//             as long as the last
//   Blind     no node goes back of whose GPUs less is told than before
//   In the end a node that shows a fault which stands is out, and none is out for longer than it
//   must.
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

// Whether berth's record on the node says that it is out for its health.
bool is_out_for_health(const nlohmann::json* node);

class HealthInvariants {
 public:
  using Complain = std::function<void(std::string_view invariant, const std::string& what)>;

  // As the node's gauges are from now on; null: there is no such machine any more.
  void take_gauges(const std::string& node, const sim::GaugedNode* gauges, MonotonicTime now);
  void take(const sim::Change& change, bool by_berth, MonotonicTime now, Time wall,
            std::chrono::nanoseconds news_takes, const Complain& complain);

  // Whether pods may leave the node for its health, or might a short while ago.
  bool may_drain(const std::string& node, MonotonicTime heard_until) const;
  // What is not in order now that berth is at rest. Empty: nothing.
  std::string unstill(MonotonicTime now) const;

 private:
  struct KnownNode {
    std::string uid;
    std::map<std::string, std::string> labels;
    bool cordoned = false;
    bool others = false;  // held by a person, in a rollout, or about to go
    bool edited = false;  // a person has written berth's record
    std::optional<HealthRecord> record;
    bool out = false;
    MonotonicTime out_since{0};                 // the last time it went out
    std::optional<MonotonicTime> back_at;       // and came back
    std::optional<MonotonicTime> cause;         // what it went out for was shown, at the earliest
    std::optional<MonotonicTime> overruled_at;  // a person put it back last
    std::int64_t cordons = 0;                   // that berth remembers
  };
  void take_policy(const sim::Change& change, MonotonicTime now);
  void judge_cordon(const std::string& name, KnownNode& node, const HealthRecord& record,
                    MonotonicTime now, MonotonicTime sent, std::chrono::nanoseconds news_takes,
                    const Complain& complain);
  void judge_return(const std::string& name, const KnownNode& node, MonotonicTime now,
                    const Complain& complain) const;
  const PoolSpec* pool_of(const KnownNode& node) const;
  // Of its pool's nodes.
  std::int64_t limit(const PoolSpec* pool) const;
  std::chrono::nanoseconds wait_after(std::int64_t cordons) const;
  // When the fault began, where gaps up to `gap` do not end it.
  MonotonicTime begin_of(const std::string& name, const ShownFault& fault,
                         std::chrono::nanoseconds gap) const;
  bool is_a_cause(const std::string& name, const KnownNode& node, const ShownFault& fault,
                  MonotonicTime sent) const;
  bool shows_what_stands(const std::string& name, const KnownNode& node) const;
  std::string judge_rest(const std::string& name, const KnownNode& node, MonotonicTime now) const;

  std::optional<GPUClusterPolicy> policy_;
  MonotonicTime policy_since_{0};  // since its spec is what it is
  GaugeHistory history_;
  std::map<std::string, KnownNode> nodes_;
};

}  // namespace berth::explore
