// SPDX-License-Identifier: Apache-2.0
// UseHistory: how pods used their GPUs over time, and which nodes had a reporting exporter: the
// real values, even if no berth was running.
#pragma once

#include <chrono>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/io/loop.h"
#include "controller/sim/nvidia/gpu_gauges.h"

namespace berth::explore {

class UseHistory {
 public:
  // As in GpuGauges (controller/sim/nvidia/gpu_gauges.h); null: the machine no longer exists.
  void take_gauges(const std::string& node, const sim::GaugedNode* gauges, MonotonicTime now);
  void take_use(const std::string& path, int percent, MonotonicTime now);

  // The scenario sets no utilization: all pods count as active.
  bool empty() const { return uses_.empty(); }
  // The longest uninterrupted activity of the pod in this span; 0 or less: none.
  std::chrono::nanoseconds worked(const nlohmann::json& pod, MonotonicTime from, MonotonicTime to,
                                  int threshold) const;
  // Since when the node's exporter reports its GPUs; and since when it does not.
  std::optional<MonotonicTime> told_since(const std::string& node) const;
  std::optional<MonotonicTime> dark_since(const std::string& node) const;

 private:
  using Uses = std::vector<std::pair<MonotonicTime, int>>;  // from when on, in percent
  const Uses& uses_of(const nlohmann::json& pod) const;

  std::map<std::string, Uses> uses_;
  std::map<std::string, std::pair<bool, MonotonicTime>> told_;  // by node: reporting, since when
};

}  // namespace berth::explore
