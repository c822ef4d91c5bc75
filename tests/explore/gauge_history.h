// SPDX-License-Identifier: Apache-2.0
// GaugeHistory: which faults each node's GPUs have shown, from when until when, as the gauges
// themselves have it, whether or not anybody was there to see.
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
    kRise,    // an error that came
    kHot,     // for as long as it is
    kStands,  // a row that could not be replaced
    kLost,    // a GPU that is gone
  };
  Kind kind = Kind::kRise;
  std::size_t gpu = 0;
  MonotonicTime from{0};
  std::optional<MonotonicTime> until;  // absent: it goes on
  MonotonicTime last(MonotonicTime now) const { return until ? *until : now; }
};

class GaugeHistory {
 public:
  // As the node's gauges are from now on; null: there is no such machine any more.
  void take(const std::string& node, const sim::GaugedNode* gauges, MonotonicTime now,
            int max_temperature);

  const std::vector<ShownFault>& of(const std::string& node) const;
  // How many GPUs something is told of, and since when so many are.
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
