// SPDX-License-Identifier: Apache-2.0
#include "controller/sampling/exporter_pods.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "apis/json_cursor.h"

namespace berth {
namespace {

constexpr char kPort[] = "9400";

bool is_exporter(const Pod& pod) {
  return std::ranges::any_of(kExporterSelectors, [&](std::string_view selector) {
    const std::size_t equals = selector.find('=');
    const Text* value = pod.meta.labels.find(selector.substr(0, equals));
    return value != nullptr && *value == selector.substr(equals + 1);
  });
}

// What goes into a URL is an address and nothing else.
bool is_address(std::string_view text) {
  return !text.empty() && text.size() <= 45 &&
         text.find_first_not_of("0123456789abcdefABCDEF.:") == std::string_view::npos;
}

}  // namespace

std::vector<std::string> known_exporters(const ClusterState& cluster, std::string_view namespace_) {
  std::vector<std::string> uids;
  for (const auto& pod : cluster.pods())
    if (pod->meta.namespace_ == namespace_ && pod->phase == PodPhase::kRunning && is_exporter(*pod))
      uids.push_back(pod->meta.uid);
  std::ranges::sort(uids);
  return uids;
}

std::vector<ExporterPod> read_exporter_pods(const nlohmann::json& list) {
  std::vector<ExporterPod> out;
  std::optional<Error> ignored;
  for (const JsonCursor& pod : JsonCursor(&list, ignored)["items"].items()) {
    ExporterPod one;
    std::string ip, phase;
    pod["metadata"]["name"].read(one.name);
    pod["spec"]["nodeName"].read(one.node);
    pod["status"]["podIP"].read(ip);
    pod["status"]["phase"].read(phase);
    if (phase != "Running" || one.node.empty() || !is_address(ip)) continue;
    const bool v6 = ip.find(':') != std::string::npos;
    one.address = (v6 ? "[" + ip + "]" : ip) + ":" + kPort;
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace berth
