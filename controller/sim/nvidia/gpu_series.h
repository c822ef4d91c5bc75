// SPDX-License-Identifier: Apache-2.0
// GpuSeries: the DCGM counters of the simulated exporters, and their values for a GPU.
#pragma once

#include <span>
#include <string_view>

#include "controller/sim/nvidia/gpu_gauges.h"

namespace berth::sim {

struct GpuSeries {
  std::string_view counter;
  double (*value)(const GpuGauge& gpu, int use);  // of the usage in percent
};
std::span<const GpuSeries> gpu_series();

}  // namespace berth::sim
