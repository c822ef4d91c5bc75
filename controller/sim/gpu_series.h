// SPDX-License-Identifier: Apache-2.0
// GpuSeries: which of DCGM's counters the simulated exporters serve, and what each shows of a GPU.
#pragma once

#include <span>
#include <string_view>

#include "controller/sim/gpu_gauges.h"

namespace berth::sim {

struct GpuSeries {
  std::string_view counter;
  double (*value)(const GpuGauge& gpu, int use);  // of its use in percent
};
std::span<const GpuSeries> gpu_series();

}  // namespace berth::sim
