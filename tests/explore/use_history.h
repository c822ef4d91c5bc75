// SPDX-License-Identifier: Apache-2.0
// UseHistory: what pods did with their GPUs, from when until when, and on which nodes an exporter
// told it: as it was, whether or not anybody was there to see.
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
  // As GpuGauges have it (controller/sim/nvidia/gpu_gauges.h); null: there is no such machine any
  // more.
  void take_gauges(const std::string& node, const sim::GaugedNode* gauges, MonotonicTime now);
  void take_use(const std::string& path, int percent, MonotonicTime now);

  // Nothing was said of anybody's use: whoever there is is at work.
  bool empty() const { return uses_.empty(); }
  // For how long at a stretch the pod was at work between the two, at most; not: 0 or less.
  std::chrono::nanoseconds worked(const nlohmann::json& pod, MonotonicTime from, MonotonicTime to,
                                  int threshold) const;
  // Since when something is told of the node's GPUs; and since when nothing is.
  std::optional<MonotonicTime> told_since(const std::string& node) const;
  std::optional<MonotonicTime> dark_since(const std::string& node) const;

 private:
  using Uses = std::vector<std::pair<MonotonicTime, int>>;  // from when on how much, in percent
  const Uses& uses_of(const nlohmann::json& pod) const;

  std::map<std::string, Uses> uses_;
  std::map<std::string, std::pair<bool, MonotonicTime>> told_;  // by node, and since when
};

}  // namespace berth::explore
