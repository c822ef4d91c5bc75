// SPDX-License-Identifier: Apache-2.0
// GaugeHistory: which faults each node's GPUs have shown, from when until when, by the gauges
// themselves, even if no berth was running.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/io/loop.h"
#include "controller/sim/nvidia/gpu_gauges.h"

namespace berth::explore {

struct ShownFault {
  enum class Kind {
    kRise,    // a new error
    kHot,     // for as long as it is hot
    kStands,  // a row that could not be remapped
    kLost,    // a GPU that is gone
  };
  Kind kind = Kind::kRise;
  std::size_t gpu = 0;
  MonotonicTime from{0};
  std::optional<MonotonicTime> until;  // absent: it continues
  MonotonicTime last(MonotonicTime now) const { return until ? *until : now; }
};

class GaugeHistory {
 public:
  // The node's gauges from now on; null: the machine no longer exists.
  void take(const std::string& node, const sim::GaugedNode* gauges, MonotonicTime now,
            int max_temperature);

  const std::vector<ShownFault>& of(const std::string& node) const;
  // How many GPUs the exporter reports, and since when it reports that many.
  std::size_t told(const std::string& node) const;
  MonotonicTime told_since(const std::string& node) const;

 private:
  struct Known {
    sim::GaugedNode gauges;
    std::vector<ShownFault> faults;
    std::size_t told = 0;
    MonotonicTime told_since{0};
  };
  std::map<std::string, Known> nodes_;
};

}  // namespace berth::explore
