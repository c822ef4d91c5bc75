// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/kube/node_lifecycle.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "apis/base/time.h"
#include "controller/sim/world/object_fields.h"
#include "controller/sim/world/object_state.h"

namespace berth::sim {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr auto kTaintLag = 100ms;    // measured on a real cluster
constexpr auto kMonitorGrace = 40s;  // --node-monitor-grace-period

struct OwnTaint {
  const char* key;
  const char* effect;
  bool wanted;
};

bool is_same(const json& taint, const OwnTaint& own) {
  return text_at(taint, {"key"}) == own.key && text_at(taint, {"effect"}) == own.effect;
}

}  // namespace

NodeLifecycle::NodeLifecycle(Simulation& simulation, const Kubelets& kubelets,
                             const Relations& relations)
    : simulation_(simulation),
      kubelets_(kubelets),
      relations_(relations),
      client_(simulation.server(), "node-controller"),
      queue_(simulation, kTaintLag, [this](const StoreKey& key) { look_at(key); }) {}

void NodeLifecycle::on_change(const Change& change) {
  if (is(change.key, "nodes") && change.kind != Change::Kind::kDeleted) queue_.wake(change.key);
}

void NodeLifecycle::watch_silence(const std::string& node) {
  queue_.wake(node_key(node), kMonitorGrace);
}

void NodeLifecycle::look_at(const StoreKey& key) {
  const ObjectPtr node = simulation_.store().find(key);
  if (node == nullptr) return;
  if (const auto since = kubelets_.silent_since(key.name)) {
    const auto silent = simulation_.now() - *since;
    const json* ready = condition_of(*node, "Ready");
    if (silent < kMonitorGrace)
      queue_.wake(key, kMonitorGrace - silent);
    else if (ready == nullptr || text_at(*ready, {"status"}) != "Unknown")
      return call_unknown(key, *node);
  }
  json taints = compute_taints(*node);
  const json* old = find_at(*node, {"spec", "taints"});
  if (old == nullptr ? taints.empty() : *old == taints) return;
  if (taints.empty()) taints = nullptr;
  json patch;
  patch["spec"]["taints"] = std::move(taints);
  client_.merge_patch("nodes", "", key.name, std::move(patch));
}

void NodeLifecycle::call_unknown(const StoreKey& key, const json& node) {
  const WallTime now = simulation_.clock().wall();
  json patch;
  patch["status"]["conditions"] = with_condition(
      node, {"Ready", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."}, now);
  client_.merge_patch("nodes", "", key.name, std::move(patch), "status");
  for (const ObjectPtr& pod : relations_.pods_on(key.name)) {
    if (!is_true(*pod, "Ready")) continue;
    json status;
    status["conditions"] = with_condition(*pod, {"Ready", "False", "NodeNotReady", ""}, now);
    client_.merge_patch("pods", namespace_of(*pod), name_of(*pod), {{"status", status}}, "status");
  }
}

// Keeps the positions of other taints.
json NodeLifecycle::compute_taints(const json& node) const {
  const json* ready = condition_of(node, "Ready");
  // A new node without a status is not tainted yet.
  const std::string status = ready == nullptr ? "" : text_at(*ready, {"status"});
  const OwnTaint own[] = {
      {"node.kubernetes.io/unschedulable", "NoSchedule", true_at(node, {"spec", "unschedulable"})},
      {"node.kubernetes.io/not-ready", "NoSchedule", status == "False"},
      {"node.kubernetes.io/not-ready", "NoExecute", status == "False"},
      {"node.kubernetes.io/unreachable", "NoSchedule", status == "Unknown"},
      {"node.kubernetes.io/unreachable", "NoExecute", status == "Unknown"},
  };
  const json* old = find_at(node, {"spec", "taints"});
  json taints = old != nullptr && old->is_array() ? *old : json::array();
  for (const OwnTaint& taint : own) {
    const auto found =
        std::ranges::find_if(taints, [&](const json& there) { return is_same(there, taint); });
    if (found != taints.end() && !taint.wanted) taints.erase(found);
    if (found != taints.end() || !taint.wanted) continue;
    taints.push_back({{"key", taint.key},
                      {"effect", taint.effect},
                      {"timeAdded", format_time(simulation_.clock().wall())}});
  }
  return taints;
}

}  // namespace berth::sim
