// SPDX-License-Identifier: Apache-2.0
// Counters: which of DCGM's fields berth reads, in which unit the exporter tells them, and which
// values can't be true. The names are dcgm-exporter's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace berth {

enum class Counter : std::uint8_t {
  kGpuUtil,       // of whole GPUs alone: for instances it is absent, or zero
  kEngineActive,  // needs DCGM's profiling module
  kPower,
  kMemoryUsed,
  kTemperature,
  kXid,  // the last one: a gauge that stays until the exporter is started again
  kDoubleBitErrors,
  kRemapFailure,
  kLinkErrors,
  kPcieReplays,
  kClockReasons,       // bits: why its clock is lower than it could be
  kClockEventReasons,  // the same under the name of today
};

struct CounterInfo {
  Counter counter;
  std::string_view name;
  double per_unit;        // what the exporter's number is multiplied with
  double most;            // in the exporter's unit: more can't be true
  bool by_default;        // in the exporter's own list
  std::string_view line;  // of the exporter's CSV
};
std::span<const CounterInfo> counters();
const CounterInfo& info_of(Counter counter);
// Null: berth does not read it.
const CounterInfo* find_counter(std::string_view name);

constexpr std::uint32_t bit_of(Counter counter) { return 1u << static_cast<unsigned>(counter); }

enum class Truth {
  kGood,
  kBlank,  // DCGM's own numbers for "not measured", or none at all
  kLie,    // another unit, or nonsense
};
// The number in berth's unit, if it is good.
struct Reading {
  Truth verdict = Truth::kBlank;
  double value = 0;
};
Reading read_counter(const CounterInfo& info, double number);

}  // namespace berth
