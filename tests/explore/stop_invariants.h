// SPDX-License-Identifier: Apache-2.0
// StopInvariants: what must hold while berth is stopped (core/stop.h), checked like the others
// (invariants.h) on the store's truth:
//   Stopped   berth cordons no node and repartitions none, changes no pool and no sharing, evicts
//             and deletes no pod, and suspends no Job
// A write that berth decided before it can have known of the stop may still arrive.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "controller/core/settings.h"
#include "controller/io/loop.h"
#include "controller/sim/world/store.h"

namespace berth::explore {

class StopInvariants {
 public:
  using Complain = std::function<void(std::string_view invariant, const std::string& what)>;
  explicit StopInvariants(const Settings& settings) : settings_(settings) {}

  void take(const sim::Change& change, bool by_berth, MonotonicTime now,
            std::chrono::nanoseconds news_takes, const Complain& complain);

 private:
  void judge(const sim::Change& change, const Complain& complain) const;
  void judge_node(const sim::Change& change, const Complain& complain) const;

  const Settings settings_;
  bool by_policy_ = false;
  bool by_namespace_ = false;
  std::optional<MonotonicTime> since_;
};

}  // namespace berth::explore
