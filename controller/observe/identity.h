// SPDX-License-Identifier: Apache-2.0
// Identity: the node, the GPU and the pod that a series is about. It reads the labels as
// dcgm-exporter writes them, or as a Prometheus has changed them. Only this file knows the
// variants.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth {

// More than any exporter and any Prometheus write.
inline constexpr std::size_t kMaxLabels = 64;

using LabelViews = std::vector<std::pair<std::string_view, std::string_view>>;

// Views into the labels. Empty: no label says it.
struct SeriesIdentity {
  // Labels that may name the node, best first: the exporter's own, then those that Prometheus'
  // relabelling adds, then the address that was scraped.
  std::string_view hostname;
  std::string_view node;
  std::string_view address;
  // The exporter's own pod, if Prometheus adds it. It runs on the node of the GPU.
  std::string_view exporter_namespace;
  std::string_view exporter_pod;

  std::string_view uuid;
  std::string_view index;
  std::string_view instance;  // MIG's id of the instance
  std::string_view profile;
  std::string_view model;

  std::string_view namespace_;  // of the pod that holds the GPU
  std::string_view pod;
};
SeriesIdentity identify(const LabelViews& labels);

// Returns the labels that identify() reads, so that a query can drop all others.
std::vector<std::string_view> identifying_labels();

}  // namespace berth
