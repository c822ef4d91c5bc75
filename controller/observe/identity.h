// SPDX-License-Identifier: Apache-2.0
// Identity: whose a measured series is, out of the labels as they come from dcgm-exporter itself or
// from a Prometheus that has put its own beside them. All the worlds that there are are told apart
// here, and nowhere else.
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

// Views into the labels. Empty: not told.
struct SeriesIdentity {
  // What may name the node, best first: the exporter's own word, then labels that Prometheus'
  // relabelling adds, then the address that was scraped.
  std::string_view hostname;
  std::string_view node;
  std::string_view address;
  // The exporter's own pod, where Prometheus tells it: its node is the GPU's.
  std::string_view exporter_namespace;
  std::string_view exporter_pod;

  std::string_view uuid;
  std::string_view index;
  std::string_view instance;  // of MIG
  std::string_view profile;
  std::string_view model;

  std::string_view namespace_;  // of who holds it
  std::string_view pod;
};
SeriesIdentity identify(const LabelViews& labels);

// The labels that identify() reads, for whoever asks Prometheus for no more.
std::vector<std::string_view> identifying_labels();

}  // namespace berth
