// SPDX-License-Identifier: Apache-2.0
// Samples: the last measurements of the GPUs, from the sampler's rounds (controller/sampling). They
// are part of the snapshot and only in memory. After a restart berth has none until the next round,
// and a GPU without measurements never counts as idle.
//
// A GPU that the sampler no longer sees stays here, with the time of its last sample. So call
// is_fresh() before you use one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/base/text.h"
#include "apis/base/time.h"
#include "controller/core/cause.h"

namespace berth {

struct GpuHolder {
  Text namespace_;
  Text pod;
  bool operator==(const GpuHolder&) const = default;
};

// A counter that never falls by itself, and when this process last saw it rise. The value at the
// first look has no time, because it may be a year old.
struct Rise {
  double value = 0;
  std::optional<Time> at;
  bool operator==(const Rise&) const = default;
};

// One GPU, or one MIG instance.
struct GpuSample {
  Text uuid;      // of the GPU, for MIG instances too
  Text index;     // on its node, "0"
  Text instance;  // MIG's id of the instance; empty: the whole GPU
  Text profile;   // of the instance, "1g.10gb"
  Text model;
  std::vector<GpuHolder> holders;  // by name; if there are several, they share the GPU

  std::optional<float> activity;  // 0 to 1; for an instance, its own. Absent: not measured
  // Since when no peak has reached the threshold. Absent: the GPU is busy, or berth has no
  // measurement.
  std::optional<Time> quiet_since;
  std::optional<float> power_w;     // of the whole GPU
  std::optional<float> memory_mib;  // in use

  std::optional<float> temperature_c;
  // Since when every sample has been above the policy's limit. Absent: the GPU is cooler, or was
  // not sampled for too long.
  std::optional<Time> hot_since;
  // When it was last above the limit, after kHotFor without a pause.
  std::optional<Time> hot_at;
  std::optional<Rise> xid;  // the last XID, and when the value changed
  std::optional<Rise> double_bit_errors;
  std::optional<Rise> link_errors;
  std::optional<Rise> pcie_replays;
  // Last throttled because of its temperature or its power supply.
  std::optional<Time> throttled_at;
  bool remap_failed = false;  // a row of its memory could not be replaced

  Time seen{};
  bool operator==(const GpuSample&) const = default;
};

inline const std::vector<GpuSample> kNoGpus;

// The reply of a node's exporter to a direct scrape by berth. All other samples come from
// Prometheus.
struct Witness {
  std::vector<GpuSample> gpus;  // like Samples::nodes, from this exporter alone
  Time asked{};                 // time of the last scrape
  std::string silence;          // why the last scrape failed; empty: it succeeded
  bool operator==(const Witness&) const = default;
};

// A loaded GPU comes near every sensible limit, and may exceed it for a moment.
inline constexpr Duration kHotFor = std::chrono::minutes(5);

struct Samples {
  // By node name; each list is ordered by uuid and instance.
  std::map<std::string, std::vector<GpuSample>, std::less<>> nodes;
  // End of the last round; absent: there was none yet.
  std::optional<Time> tried_at;
  std::optional<Time> measured_at;   // end of the last round that brought any sample
  std::optional<Cause> trouble;      // of the last round: why it brought less than it should
  std::uint32_t counters = 0;        // present in the last round, one bit each (observe/counters.h)
  Duration interval{};               // between rounds
  std::int32_t threshold = 0;        // percent; the limit behind quiet_since
  std::int32_t max_temperature = 0;  // degrees Celsius; the limit behind hot_since
  std::optional<Cause> ignored;      // of the last round: series that berth does not use
  // The samples come from a Prometheus, which trusts whatever it scrapes. So berth takes a node out
  // of service or reclaims GPUs only if the node's own exporter shows the same.
  bool second_hand = false;
  // by node; only nodes that berth has scraped
  std::map<std::string, Witness, std::less<>> witnesses;

  const std::vector<GpuSample>& on(std::string_view node) const {
    const auto found = nodes.find(node);
    return found == nodes.end() ? kNoGpus : found->second;
  }
  const Witness* witness_of(std::string_view node) const {
    const auto found = witnesses.find(node);
    return found == witnesses.end() ? nullptr : &found->second;
  }
  // A sample counts until three rounds have failed and two minutes have passed.
  Duration lasts() const { return std::max<Duration>(3 * interval, std::chrono::minutes(2)); }
  bool is_fresh(const GpuSample& gpu, Time now) const { return now - gpu.seen <= lasts(); }
};

// For programs that measure nothing.
inline const Samples kNoSamples;

}  // namespace berth
