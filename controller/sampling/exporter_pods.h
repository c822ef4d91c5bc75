// SPDX-License-Identifier: Apache-2.0
// ExporterPods: where dcgm-exporter can be scraped, by the informer's pods as they are now: an
// address is never kept. Only pods in the namespace of NVIDIA's agents: anybody may put its labels
// on a pod of their own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/core/cluster_state.h"

namespace berth {

struct ExporterPod {
  std::string uid;
  std::string name;
  std::string node;
  std::string address;  // "10.0.0.7:9400", "[fd00::7]:9400"; empty: its status has none
};

// Those that run, by name. One on the host's network has its node's address.
std::vector<ExporterPod> running_exporters(const ClusterState& cluster,
                                           std::string_view namespace_);

// Whether the pod is still there under that address: else what answered may be another's.
bool is_still_there(const ClusterState& cluster, std::string_view namespace_,
                    const ExporterPod& pod);

}  // namespace berth
