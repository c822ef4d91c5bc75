// SPDX-License-Identifier: Apache-2.0
// ExporterPods: where dcgm-exporter can be scraped. Only pods in the namespace of NVIDIA's agents:
// anybody may put its labels on a pod of their own.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "controller/core/cluster_state.h"

namespace berth {

struct ExporterPod {
  std::string name;
  std::string node;
  std::string address;  // "10.0.0.7:9400", "[fd00::7]:9400"
};

// The operator's label and the chart's, as selectors.
inline constexpr std::string_view kExporterSelectors[] = {"app=nvidia-dcgm-exporter",
                                                          "app.kubernetes.io/name=dcgm-exporter"};

// Of those that the cache knows, by uid: it has no addresses. Sorted.
std::vector<std::string> known_exporters(const ClusterState& cluster, std::string_view namespace_);

// Running ones out of a list of Pods; those without an address or a node are left out.
std::vector<ExporterPod> read_exporter_pods(const nlohmann::json& list);

}  // namespace berth
