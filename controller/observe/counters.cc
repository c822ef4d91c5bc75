// SPDX-License-Identifier: Apache-2.0
#include "controller/observe/counters.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace berth {
namespace {

constexpr double kMostCount = 1e9;
constexpr double kMostReasons = 1 << 20;  // NVML defines nine bits

constexpr std::array<CounterInfo, 12> kCounters = {{
    {Counter::kGpuUtil, "DCGM_FI_DEV_GPU_UTIL", 0.01, 100, true,
     "DCGM_FI_DEV_GPU_UTIL, gauge, GPU utilization (in %)."},
    {Counter::kEngineActive, "DCGM_FI_PROF_GR_ENGINE_ACTIVE", 1, 1.001, true,
     "DCGM_FI_PROF_GR_ENGINE_ACTIVE, gauge, Ratio of time the graphics engine is active."},
    {Counter::kPower, "DCGM_FI_DEV_POWER_USAGE", 1, 5'000, true,
     "DCGM_FI_DEV_POWER_USAGE, gauge, Power draw (in W)."},
    // In MiB: no GPU has 16 TiB. Even a small GPU has more bytes than that.
    {Counter::kMemoryUsed, "DCGM_FI_DEV_FB_USED", 1, 16'777'216, true,
     "DCGM_FI_DEV_FB_USED, gauge, Framebuffer memory used (in MiB)."},
    {Counter::kTemperature, "DCGM_FI_DEV_GPU_TEMP", 1, 200, true,
     "DCGM_FI_DEV_GPU_TEMP, gauge, GPU temperature (in C)."},
    {Counter::kXid, "DCGM_FI_DEV_XID_ERRORS", 1, 10'000, true,
     "DCGM_FI_DEV_XID_ERRORS, gauge, Value of the last XID error encountered."},
    {Counter::kDoubleBitErrors, "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", 1, kMostCount, false,
     "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL, counter, Total number of double-bit volatile ECC errors."},
    {Counter::kRemapFailure, "DCGM_FI_DEV_ROW_REMAP_FAILURE", 1, 1, true,
     "DCGM_FI_DEV_ROW_REMAP_FAILURE, gauge, Whether remapping of rows has failed"},
    {Counter::kLinkErrors, "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", 1, kMostCount, false,
     "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL, counter, Total number of NVLink flow-control "
     "CRC errors."},
    {Counter::kPcieReplays, "DCGM_FI_DEV_PCIE_REPLAY_COUNTER", 1, kMostCount, true,
     "DCGM_FI_DEV_PCIE_REPLAY_COUNTER, counter, Total number of PCIe retries."},
    {Counter::kClockReasons, "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", 1, kMostReasons, false,
     "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS, gauge, Current clock throttle reasons (bitmask)."},
    {Counter::kClockEventReasons, "DCGM_FI_DEV_CLOCKS_EVENT_REASONS", 1, kMostReasons, false,
     "DCGM_FI_DEV_CLOCKS_EVENT_REASONS, gauge, Current clock event reasons (bitmask)."},
}};

// DCGM_INT32_BLANK, DCGM_INT64_BLANK and DCGM_FP64_BLANK. The fifteen numbers above each of them
// say why the value is missing.
bool is_blank(double number) {
  return (number >= 2147483632.0 && number <= 2147483647.0) || number >= 9.2e18 ||
         (number >= 140737488355328.0 && number <= 140737488355343.0);
}

}  // namespace

std::span<const CounterInfo> counters() { return kCounters; }

const CounterInfo& info_of(Counter counter) { return kCounters[static_cast<std::size_t>(counter)]; }

const CounterInfo* find_counter(std::string_view name) {
  if (!name.starts_with("DCGM_FI_")) return nullptr;
  const auto found =
      std::ranges::find_if(kCounters, [&](const CounterInfo& each) { return each.name == name; });
  return found == kCounters.end() ? nullptr : &*found;
}

Reading read_counter(const CounterInfo& info, double number) {
  // NaN is Prometheus' own mark for the end of a series.
  if (std::isnan(number) || is_blank(number)) return {Truth::kBlank, 0};
  if (number < 0 || number > info.most) return {Truth::kLie, 0};
  // Percents are whole numbers. A value below one is a ratio: a rule has converted the
  // exporter's number.
  if (info.counter == Counter::kGpuUtil && number > 0 && number < 1) return {Truth::kLie, 0};
  return {Truth::kGood,
          std::min(number, info.counter == Counter::kEngineActive ? 1.0 : number) * info.per_unit};
}

}  // namespace berth
