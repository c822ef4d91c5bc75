// SPDX-License-Identifier: Apache-2.0
#include "controller/sampling/exporter_pods.h"

#include <algorithm>

#include "apis/kinds/exporter_pod.h"

namespace berth {
namespace {

constexpr char kPort[] = "9400";

// Only plain addresses go into a URL.
bool is_address(std::string_view text) {
  return !text.empty() && text.size() <= 45 &&
         text.find_first_not_of("0123456789abcdefABCDEF.:") == std::string_view::npos;
}

std::string address_of(const Pod& pod) {
  const std::string ip = pod.address.str();
  if (!is_address(ip)) return "";
  const bool v6 = ip.find(':') != std::string::npos;
  return (v6 ? "[" + ip + "]" : ip) + ":" + kPort;
}

// A terminating pod may have lost its address already.
bool runs(const Pod& pod) {
  return pod.phase == PodPhase::kRunning && !pod.terminating() && !pod.node_name.empty();
}

}  // namespace

std::vector<ExporterPod> running_exporters(const ClusterState& cluster,
                                           std::string_view namespace_) {
  std::vector<ExporterPod> found;
  for (const auto& pod : cluster.pods())
    if (pod->meta.namespace_ == namespace_ && runs(*pod) && has_exporter_labels(pod->meta.labels))
      found.push_back({pod->meta.uid, pod->meta.name, pod->node_name.str(), address_of(*pod)});
  std::ranges::sort(found, {}, &ExporterPod::name);
  return found;
}

bool is_still_there(const ClusterState& cluster, std::string_view namespace_,
                    const ExporterPod& pod) {
  const Pod* now = cluster.pods().find(namespace_, pod.name);
  return now != nullptr && now->meta.uid == pod.uid && runs(*now) &&
         now->node_name == std::string_view(pod.node) && address_of(*now) == pod.address;
}

}  // namespace berth
