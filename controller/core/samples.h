// SPDX-License-Identifier: Apache-2.0
// Samples: what the GPUs were measured to do, as the last rounds of the sampler
// (controller/sampling) left it. Part of the snapshot, in memory alone: after a restart it is
// measured anew, and until then nothing is known, which is never taken for idleness.
//
// A GPU that was not seen for a while stays, with the time at which it was seen: whoever reads asks
// is_fresh() first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/text.h"
#include "apis/time.h"
#include "controller/core/cause.h"

namespace berth {

struct GpuHolder {
  Text namespace_;
  Text pod;
  bool operator==(const GpuHolder&) const = default;
};

// When something rose that never falls by itself, as far as this process has seen it rise: what
// stood when it was first looked at may be a year old.
struct Rise {
  double value = 0;
  std::optional<Time> at;
  bool operator==(const Rise&) const = default;
};

// One GPU, or one instance of a GPU that MIG has cut.
struct GpuSample {
  Text uuid;      // the GPU's, of instances too
  Text index;     // "0", on its node
  Text instance;  // MIG's id of it; empty: the whole GPU
  Text profile;   // of the instance, "1g.10gb"
  Text model;
  std::vector<GpuHolder> holders;  // by name; more than one: they share it

  std::optional<float> activity;  // 0 to 1; of an instance, of itself. Absent: not measured
  // Since when no peak has reached the threshold; absent: it is busy, or nobody knows.
  std::optional<Time> quiet_since;
  std::optional<float> power_w;     // of the whole GPU
  std::optional<float> memory_mib;  // in use

  std::optional<float> temperature_c;
  // Since when each look has found it above the policy's limit. Absent: it is not, or was not
  // looked at for too long.
  std::optional<Time> hot_since;
  // When it was last above the limit after it had been for kHotFor.
  std::optional<Time> hot_at;
  std::optional<Rise> xid;  // the last one, and when another came
  std::optional<Rise> double_bit_errors;
  std::optional<Rise> link_errors;
  std::optional<Rise> pcie_replays;
  // Last slowed down by its temperature or for its power supply's sake.
  std::optional<Time> throttled_at;
  bool remap_failed = false;  // a row of its memory could not be replaced

  Time seen{};
  bool operator==(const GpuSample&) const = default;
};

inline const std::vector<GpuSample> kNoGpus;

// What the exporter on a node showed when berth scraped it directly. All else comes from
// Prometheus.
struct Witness {
  std::vector<GpuSample> gpus;  // as in Samples::nodes, of its replies alone
  Time asked{};                 // last
  std::string silence;          // why it did not answer then; empty: it did
  bool operator==(const Witness&) const = default;
};

// A card under load comes near every sensible limit, and may pass it for a moment.
inline constexpr Duration kHotFor = std::chrono::minutes(5);

struct Samples {
  // By node, in the order of uuid and instance.
  std::map<std::string, std::vector<GpuSample>, std::less<>> nodes;
  // Ends of rounds; absent: there was none yet.
  std::optional<Time> tried_at;
  std::optional<Time> measured_at;  // of the last one that brought anything
  std::optional<Cause> trouble;     // of the last one: why it brought less than it should
  std::uint32_t counters = 0;  // that the last one brought, a bit for each (observe/counters.h)
  Duration interval{};         // between rounds
  std::int32_t threshold = 0;  // percent, that quiet_since was judged by
  std::int32_t max_temperature = 0;  // degrees Celsius, that hot_since was judged by
  std::optional<Cause> ignored;      // of the last round: series that count for nothing
  // The GPUs were told by a Prometheus, which believes whatever it scrapes: nothing is taken from
  // service or from anybody but for what the node's own exporter shows as well.
  bool second_hand = false;
  std::map<std::string, Witness, std::less<>> witnesses;  // by node, those that were asked

  const std::vector<GpuSample>& on(std::string_view node) const {
    const auto found = nodes.find(node);
    return found == nodes.end() ? kNoGpus : found->second;
  }
  const Witness* witness_of(std::string_view node) const {
    const auto found = witnesses.find(node);
    return found == witnesses.end() ? nullptr : &found->second;
  }
  // Three rounds may fail, and two minutes pass, before what was measured no longer counts.
  Duration lasts() const { return std::max<Duration>(3 * interval, std::chrono::minutes(2)); }
  bool is_fresh(const GpuSample& gpu, Time now) const { return now - gpu.seen <= lasts(); }
};

// Where nothing is measured.
inline const Samples kNoSamples;

}  // namespace berth
