// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/nvidia/gpu_series.h"

namespace berth::sim {
namespace {

// The power of a GPU in use, and of an idle one.
constexpr double kWattsAtWork = 300, kWattsIdle = 60;

constexpr GpuSeries kSeries[] = {
    {"DCGM_FI_DEV_GPU_UTIL", [](const GpuGauge&, int use) { return 1.0 * use; }},
    {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", [](const GpuGauge&, int use) { return use / 100.0; }},
    {"DCGM_FI_DEV_POWER_USAGE",
     [](const GpuGauge&, int use) { return use > 0 ? kWattsAtWork : kWattsIdle; }},
    {"DCGM_FI_DEV_FB_USED", [](const GpuGauge&, int) { return 20'000.0; }},
    {"DCGM_FI_DEV_GPU_TEMP", [](const GpuGauge& gpu, int) { return 1.0 * gpu.temperature; }},
    {"DCGM_FI_DEV_XID_ERRORS", [](const GpuGauge& gpu, int) { return 1.0 * gpu.xid; }},
    {"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
     [](const GpuGauge& gpu, int) { return 1.0 * gpu.double_bit_errors; }},
    {"DCGM_FI_DEV_ROW_REMAP_FAILURE",
     [](const GpuGauge& gpu, int) { return gpu.remap_failed ? 1.0 : 0.0; }},
};

}  // namespace

std::span<const GpuSeries> gpu_series() { return kSeries; }

}  // namespace berth::sim
