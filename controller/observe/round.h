// SPDX-License-Identifier: Apache-2.0
// Round: one measurement of all GPUs, from Prometheus or from the exporters, before fold() adds it
// to the Samples. Each series goes to its GPU. berth ignores series of unknown nodes, of GPUs
// beyond a node's count, and of another node than the exporter's own. So the cluster bounds what
// berth keeps, whatever is sent. The cluster may change between two series.
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

// Which value of a period a number is.
enum class Told {
  kNow,   // the last one, or the mean
  kPeak,  // the highest one
};

// The readings of pods that share a GPU. Each shows the whole GPU, or each shows the part of one
// pod.
struct SharedReading {
  double sum = 0, most = 0, least = 0;
  int count = 0;
  void add(double value);
  // The whole GPU's value: one of them if all are equal, else their sum, at most 1.
  std::optional<double> total() const;
};

struct GpuReading {
  GpuSample gpu;  // the new sample, without what depends on earlier rounds
  SharedReading util, util_peak;
  std::optional<double> engine, engine_peak;
  std::optional<double> power_peak;
  std::optional<double> clock_reasons;
  std::optional<Time> quiet_from;  // since when it is quiet, as far back as its history goes
};

class Round {
 public:
  // `agents_namespace`: the namespace of NVIDIA's node components. berth knows dcgm-exporter's pods
  // there by their labels.
  Round(const ClusterState& cluster, std::string agents_namespace);

  // Sets the node of the exporter that berth scrapes. Series about other nodes are ignored. Empty:
  // the labels name the node.
  void be_on(std::string_view node) { scraped_node_ = node; }
  void add(const CounterInfo& counter, const SeriesIdentity& series, double number, Told told);
  // Adds history: since `since` no peak has reached the threshold.
  void add_quiet(const SeriesIdentity& series, Time since);

  const std::map<std::string, std::vector<GpuReading>, std::less<>>& nodes() const {
    return nodes_;
  }
  std::uint32_t counters() const { return counters_; }
  std::size_t strangers() const { return strangers_; }  // series of no node that berth knows
  // The first impossible value, for messages; empty: none.
  const std::string& lie() const { return lie_; }
  IgnoredSeries& ignored() { return ignored_; }
  // Returns "NAMESPACE/NAME" if the cluster has the pod; else empty.
  std::string known_pod(std::string_view namespace_, std::string_view name) const;

 private:
  struct Place {
    std::string node;        // empty: no node that berth knows
    bool elsewhere = false;  // the series is about another node than its exporter's own
  };
  const Place& place_of(const SeriesIdentity& series);
  Place look_up(const SeriesIdentity& series) const;
  const Node* named_by(std::string_view host) const;
  const Node* node_of_exporter(const SeriesIdentity& series) const;
  // Returns the node that the series counts for; null: berth ignores the series.
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
  std::map<std::string, Place, std::less<>> places_;            // by the labels that name the node
  std::map<std::string, std::int64_t, std::less<>> most_gpus_;  // by node
  // The nodes' names, by hostname label.
  std::map<std::string, std::string, std::less<>> other_names_;
  std::uint32_t counters_ = 0;
  std::size_t strangers_ = 0;
  IgnoredSeries ignored_;
  std::string lie_;
};

}  // namespace berth
