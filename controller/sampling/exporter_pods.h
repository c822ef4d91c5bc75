// SPDX-License-Identifier: Apache-2.0
// ExporterPods: where to scrape dcgm-exporter, by the informer's present pods; addresses are not
// cached. It takes only pods in the namespace of NVIDIA's node components, because any user can put
// the exporter's labels on a pod.
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
  std::string address;  // "10.0.0.7:9400", "[fd00::7]:9400"; empty: no address in its status
};

// The running exporters, by name. With host networking, the address is the node's.
std::vector<ExporterPod> running_exporters(const ClusterState& cluster,
                                           std::string_view namespace_);

// Whether the pod still has that address. If not, the answer may come from another pod.
bool is_still_there(const ClusterState& cluster, std::string_view namespace_,
                    const ExporterPod& pod);

}  // namespace berth
