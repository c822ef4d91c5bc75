// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/device_plugin.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "apis/base/reasons.h"
#include "controller/disruption/rollouts.h"
#include "controller/fleet/node_facts.h"

namespace berth {
namespace {

// The DaemonSets of the GPU operator, of NVIDIA's chart and of GKE all have it in their names.
bool is_plugins_name(std::string_view daemon_set) {
  return daemon_set.find("device-plugin") != std::string_view::npos;
}

bool is_device_plugin(const Pod& pod) {
  const OwnerReference* owner = pod.meta.controller();
  return owner != nullptr && owner->kind == "DaemonSet" && is_plugins_name(owner->name.view());
}

const Pod* device_plugin_on(const Snapshot& snapshot, const Node& node) {
  for (const Pod* pod : snapshot.cluster.pods_on(node.meta.name))
    if (is_device_plugin(*pod) && !pod->finished()) return pod;
  return nullptr;
}

// It has GPUs and offers none, and this is not because its plugin is paused for repartitioning.
bool lacks_its_own(const Snapshot& snapshot, const Node& node) {
  return has_gpus(node) && !offers_gpus(node) && !nodes_under_way(snapshot.cluster).contains(&node);
}

// Nodes by the kubelet's reason, with the name of the first node's pod.
struct Crash {
  std::string pod;  // namespace/name
  std::vector<std::string> nodes;
};
using Crashes = std::map<std::string, Crash>;

// Empty if it is the node in question.
std::vector<std::string> about(const std::vector<std::string>& nodes, const Explanation& out) {
  return out.subject.kind == kKind<Node>.kind ? std::vector<std::string>() : nodes;
}

void note_crashes(const Crashes& crashes, Explanation& out) {
  for (const auto& [word, crash] : crashes) {
    out.add("agents",
            fmt::format(
                "NVIDIA's device plugin does not run ({}), so that the GPUs are not offered", word),
            reasons::kDevicePluginCrashes, about(crash.nodes, out));
    const std::size_t slash = crash.pod.find('/');
    out.remedies.push_back(
        {fmt::format("see why the device plugin of {} does not run", crash.nodes.front()),
         fmt::format("kubectl logs --previous -n {} {}", crash.pod.substr(0, slash),
                     crash.pod.substr(slash + 1)),
         {}});
  }
}

// If the plugin is no DaemonSet in NVIDIA's namespace, berth can't recognize it.
void note_missing(const Snapshot& snapshot, const std::vector<std::string>& nodes,
                  Explanation& out) {
  const auto& sets = snapshot.cluster.daemon_sets();
  const auto set = std::find_if(sets.begin(), sets.end(),
                                [](const auto& each) { return is_plugins_name(each->meta.name); });
  if (nodes.empty() || set == sets.end()) return;
  out.add("agents",
          fmt::format("no pod of DaemonSet {} runs there, so that the GPUs are not offered",
                      (*set)->meta.name),
          reasons::kDevicePluginMissing, about(nodes, out));
}

}  // namespace

void note_device_plugin(const Snapshot& snapshot, const std::vector<const Node*>& nodes,
                        const Clues& clues, Explanation& out) {
  if (!clues.knows("pods")) return;
  Crashes crashes;
  std::vector<std::string> missing;
  for (const Node* node : nodes) {
    if (!node->ready || !lacks_its_own(snapshot, *node)) continue;
    const Pod* plugin = device_plugin_on(snapshot, *node);
    if (plugin == nullptr) missing.push_back(node->meta.name);
    if (plugin == nullptr || plugin->trouble.empty()) continue;
    Crash& crash = crashes[plugin->trouble.str()];
    if (crash.nodes.empty()) crash.pod = key_of(plugin->meta).str();
    crash.nodes.push_back(node->meta.name);
  }
  note_crashes(crashes, out);
  note_missing(snapshot, missing, out);
}

}  // namespace berth
