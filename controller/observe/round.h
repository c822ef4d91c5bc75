// SPDX-License-Identifier: Apache-2.0
// Round: one look at all GPUs, from wherever it came, on its way into the Samples. Each series is
// added to its GPU. Series of no node of the cluster, of GPUs beyond a node's count, and of a node
// that is not the exporter's own are ignored, so that the cluster bounds what is kept, whatever is
// sent. Between series the cluster may change.
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
#include "controller/observe/ignored_series.h"

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
  // The namespace is that of NVIDIA's agents, where dcgm-exporter's pods are known by their labels.
  Round(const ClusterState& cluster, std::string agents_namespace);

  // A scraped exporter's pod tells which node it is, and what its labels say of others is ignored;
  // empty: the labels have to tell it.
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
  IgnoredSeries& ignored() { return ignored_; }
  // The pod "NAMESPACE/NAME" if the cluster has it; else empty.
  std::string known_pod(std::string_view namespace_, std::string_view name) const;

 private:
  struct Place {
    std::string node;        // empty: none that berth knows
    bool elsewhere = false;  // the series is about another node than its exporter's own
  };
  const Place& place_of(const SeriesIdentity& series);
  Place look_up(const SeriesIdentity& series) const;
  const Node* named_by(std::string_view host) const;
  const Node* node_of_exporter(const SeriesIdentity& series) const;
  // The node that the series counts for; null: it counts for none.
  const Node* node_of(const SeriesIdentity& series);
  bool is_within(const Node& node, const SeriesIdentity& series);
  const Pod* holder_of(const SeriesIdentity& series, const Node& node) const;
  GpuReading* reading_of(const Node& node, const SeriesIdentity& series);
  GpuReading* new_reading(std::vector<GpuReading>& gpus, const SeriesIdentity& series) const;
  void put(GpuReading& reading, Counter counter, double value, Told told) const;

  const ClusterState& cluster_;
  const std::string agents_namespace_;
  std::string_view scraped_node_;
  std::map<std::string, std::vector<GpuReading>, std::less<>> nodes_;
  std::map<std::string, Place, std::less<>> places_;             // by what tells them
  std::map<std::string, std::int64_t, std::less<>> most_gpus_;   // by node
  std::map<std::string, std::string, std::less<>> other_names_;  // of nodes, by hostname label
  std::uint32_t counters_ = 0;
  std::size_t strangers_ = 0;
  IgnoredSeries ignored_;
  std::string lie_;
};

}  // namespace berth
