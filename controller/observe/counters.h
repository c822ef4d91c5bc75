// SPDX-License-Identifier: Apache-2.0
// Counters: the DCGM fields that berth reads, the exporter's unit of each, and which values are
// impossible. The names are dcgm-exporter's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace berth {

enum class Counter : std::uint8_t {
  kGpuUtil,       // only of whole GPUs: for instances it is absent or zero
  kEngineActive,  // needs DCGM's profiling module
  kPower,
  kMemoryUsed,
  kTemperature,
  kXid,  // the last error: a gauge that keeps its value until the exporter restarts
  kDoubleBitErrors,
  kRemapFailure,
  kLinkErrors,
  kPcieReplays,
  kClockReasons,       // bits: why the clock is lower than it could be
  kClockEventReasons,  // the same under its current name
};

struct CounterInfo {
  Counter counter;
  std::string_view name;
  double per_unit;        // berth multiplies the exporter's number by it
  double most;            // in the exporter's unit: a higher value is impossible
  bool by_default;        // whether the exporter's own list has it
  std::string_view line;  // for the exporter's CSV file
};
std::span<const CounterInfo> counters();
const CounterInfo& info_of(Counter counter);
// Null: berth does not read it.
const CounterInfo* find_counter(std::string_view name);

constexpr std::uint32_t bit_of(Counter counter) { return 1u << static_cast<unsigned>(counter); }

enum class Truth {
  kGood,
  kBlank,  // DCGM's own numbers for "not measured", or NaN
  kLie,    // impossible: another unit, or nonsense
};
// A number and its verdict. If that is kGood, the number is in berth's unit.
struct Reading {
  Truth verdict = Truth::kBlank;
  double value = 0;
};
Reading read_counter(const CounterInfo& info, double number);

}  // namespace berth
