// SPDX-License-Identifier: Apache-2.0
// RetreatInvariants: what must hold when berth takes away what a policy put on a node where pods
// hold GPUs, be it for a deletion or an edit, judged like the rest (invariants.h):
//   Window    no such node loses its sharing while the policy's calendar is closed
//   Retained  no node loses its sharing or its pool by a deletion under deletionPolicy Retain
//   Budget    of no more such nodes than maxUnavailable does the plugin restart at a time
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/io/loop.h"
#include "controller/sim/world/store.h"
#include "tests/explore/truth.h"

namespace berth::explore {

class RetreatInvariants {
 public:
  using Complain = std::function<void(std::string_view invariant, const std::string& what)>;

  // Outlived by `truth`, which shows the world as it was before the change.
  explicit RetreatInvariants(const Truth& truth) : truth_(truth) {}

  void take(const sim::Change& change, bool by_berth, MonotonicTime now, Time wall,
            const Complain& complain);

 private:
  void take_policy(const sim::Change& change, MonotonicTime now);
  void judge_loss(const std::string& node, MonotonicTime now, Time wall, const Complain& complain);

  const Truth& truth_;
  std::optional<DisruptionSpec> disruption_;
  bool retained_ = false;   // the policy goes, or has gone, and leaves nodes as they are
  MonotonicTime since_{0};  // since the policy says so
  std::map<std::string, MonotonicTime> restarts_;  // nodes that do not show their loss yet
};

}  // namespace berth::explore
