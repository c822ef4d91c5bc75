// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/gauge_history.h"

#include <algorithm>

namespace berth::explore {
namespace {

using Kind = ShownFault::Kind;

// XIDs that NVIDIA's catalog assigns to programs, not to GPUs.
constexpr int kOfPrograms[] = {13, 31, 43, 45, 68, 109};

bool breaks_gpu(int xid) {
  return xid != 0 && std::ranges::find(kOfPrograms, xid) == std::end(kOfPrograms);
}

std::size_t count_told(const sim::GaugedNode& node) {
  const auto there = std::ranges::count(node.gpus, false, &sim::GpuGauge::lost);
  return node.told ? static_cast<std::size_t>(there) : 0;
}

}  // namespace

void GaugeHistory::take(const std::string& node, const sim::GaugedNode* gauges, MonotonicTime now,
                        int max_temperature) {
  if (gauges == nullptr) {
    nodes_.erase(node);
    return;
  }
  Known& known = nodes_[node];
  if (known.gauges.made != gauges->made) known = {.gauges = *gauges, .told_since = now};
  const auto goes_on = [&](Kind kind, std::size_t gpu, bool holds) {
    const auto found = std::ranges::find_if(known.faults, [&](const ShownFault& fault) {
      return fault.kind == kind && fault.gpu == gpu && !fault.until;
    });
    if (holds && found == known.faults.end()) known.faults.push_back({kind, gpu, now, {}});
    if (!holds && found != known.faults.end()) found->until = now;
  };
  for (std::size_t i = 0; i < gauges->gpus.size(); ++i) {
    const sim::GpuGauge &was = known.gauges.gpus[i], &is = gauges->gpus[i];
    if ((is.xid != was.xid && breaks_gpu(is.xid)) || is.double_bit_errors > was.double_bit_errors)
      known.faults.push_back({Kind::kRise, i, now, now});
    goes_on(Kind::kHot, i, is.temperature > max_temperature);
    goes_on(Kind::kStands, i, is.remap_failed);
    goes_on(Kind::kLost, i, is.lost);
  }
  known.gauges = *gauges;
  if (const std::size_t told = count_told(*gauges); told != known.told) {
    known.told = told;
    known.told_since = now;
  }
}

const std::vector<ShownFault>& GaugeHistory::of(const std::string& node) const {
  static const std::vector<ShownFault> kNone;
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? kNone : found->second.faults;
}

std::size_t GaugeHistory::told(const std::string& node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? 0 : found->second.told;
}

MonotonicTime GaugeHistory::told_since(const std::string& node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? MonotonicTime{0} : found->second.told_since;
}

}  // namespace berth::explore
