// SPDX-License-Identifier: Apache-2.0
// Round: one look at all GPUs, from wherever it came, on its way into the Samples. Series are put
// down under their GPU; what no node or no pod of the cluster answers to is left out, so that what
// is kept is bounded by the cluster, whatever is sent. Between series the cluster may change.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/core/samples.h"
#include "controller/observe/counters.h"
#include "controller/observe/identity.h"

namespace berth {

// What a number tells of a time in which there were several.
enum class Told {
  kNow,   // the last one, or the mean
  kPeak,  // the highest one
};

// What pods that share a GPU are told of it: each the same, or each its own part of it.
struct SharedReading {
  double sum = 0, most = 0, least = 0;
  int count = 0;
  void add(double value);
  // Of the whole GPU.
  std::optional<double> total() const;
};

struct GpuReading {
  GpuSample gpu;  // as it will be kept, without what depends on earlier rounds
  SharedReading util, util_peak;
  std::optional<double> engine, engine_peak;
  std::optional<double> power_peak;
  std::optional<double> clock_reasons;
  std::optional<Time> quiet_from;  // as far back as its history is known
};

class Round {
 public:
  explicit Round(const ClusterState& cluster);

  // A scraped exporter's pod tells which node it is, whatever its labels say; empty: they have to.
  void be_on(std::string_view node) { scraped_node_ = node; }
  void add(const CounterInfo& counter, const SeriesIdentity& series, double number, Told told);
  // What is known of the time before the round: no peak since then has reached the threshold.
  void add_quiet(const SeriesIdentity& series, Time since);

  const std::map<std::string, std::vector<GpuReading>, std::less<>>& nodes() const {
    return nodes_;
  }
  std::uint32_t counters() const { return counters_; }
  std::size_t strangers() const { return strangers_; }  // series of no node that berth knows
  const std::string& lie() const { return lie_; }       // the first one, for people; empty: none

 private:
  const Node* node_of(const SeriesIdentity& series);
  const Node* look_up(const SeriesIdentity& series) const;
  const Pod* holder_of(const SeriesIdentity& series) const;
  GpuReading* reading_of(const SeriesIdentity& series);
  void put(GpuReading& reading, Counter counter, double value, Told told) const;

  const ClusterState& cluster_;
  std::string_view scraped_node_;
  std::map<std::string, std::vector<GpuReading>, std::less<>> nodes_;
  std::map<std::string, std::string, std::less<>> names_;  // of nodes, by what tells them; or empty
  std::map<std::string, std::string, std::less<>> other_names_;  // of nodes, by hostname label
  std::uint32_t counters_ = 0;
  std::size_t strangers_ = 0;
  std::string lie_;
};

}  // namespace berth
