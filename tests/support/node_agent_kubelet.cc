// SPDX-License-Identifier: Apache-2.0
// The node's components except mig-manager: the device plugin with the kubelet's part in it, GPU
// feature discovery, reboots.
#include <fmt/format.h>

#include <ctime>
#include <random>

#include "controller/sim/nvidia/gpu_resources.h"
#include "controller/sim/nvidia/operands.h"
#include "tests/support/node_agent.h"
#include "tests/support/node_agent_names.h"

namespace berth::test {
namespace {

using nlohmann::json;

std::string new_boot_id() {
  std::random_device random;
  return fmt::format("{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}", random(), random() & 0xffff,
                     random() & 0xfff, random() & 0xfff, random());
}

}  // namespace

void NodeAgent::advance_plugin(const std::string& name, Node& node) {
  const Pod* pod = pod_on(name, sim::kPluginApp);
  if (pod == nullptr) {
    // A plugin that stops before it advertised anything also removes the count that the node came
    // with.
    const bool was_there = !node.plugin_uid.empty();
    node.plugin_uid.clear();
    node.publish_due.reset();
    if (!node.advertising && !was_there) return advance_forgetting(name, node);
    node.advertising = false;
    node.forget_due = Clock::now() + options_.capacity_grace;
    const json body = sim::withdraw_patch(node.object.value(), {});
    if (!body.is_null()) patch_node(kubelet_, name, body, "status");
    return;
  }
  if (node.plugin_uid != pod->uid) {
    node.plugin_uid = pod->uid;
    node.publish_due = Clock::now() + options_.plugin_lag;
  }
  if (past(node.publish_due)) {
    node.publish_due.reset();
    node.advertising = true;
    const sim::Advertised advertised = sim::advertise(node.gpus, strategy_of(node, *pod));
    if (advertised.crashed)
      log(name, "the device plugin crashes: GPUs differ under strategy single");
    json body = sim::withdraw_patch(node.object.value(), advertised.resources);
    for (const auto& [key, count] : advertised.resources)
      for (const char* field : {"capacity", "allocatable"})
        body["status"][field][key] = std::to_string(count);
    node.forget_due = Clock::now() + options_.capacity_grace;
    if (!body.is_null()) patch_node(kubelet_, name, body, "status");
  }
  advance_forgetting(name, node);
}

// After the kubelet's grace period for unserved resources, capacity becomes 0 too; the key stays.
void NodeAgent::advance_forgetting(const std::string& name, Node& node) {
  if (!past(node.forget_due)) return;
  node.forget_due.reset();
  const json body = sim::forget_patch(node.object.value());
  if (!body.is_null()) patch_node(kubelet_, name, body, "status");
}

std::string NodeAgent::strategy_of(const Node& node, const Pod& pod) const {
  const std::string own = node.object.annotation("test.berth.dev/mig-strategy");
  if (!own.empty()) return own;
  return pod.strategy.empty() ? "mixed" : pod.strategy;
}

// --- GPU feature discovery ---

void NodeAgent::advance_discovery(const std::string& name, Node& node) {
  const Pod* pod = pod_on(name, sim::kDiscoveryApp);
  if (pod == nullptr) {
    node.discovery_uid.clear();
    node.discover_due.reset();
    return;  // old labels stay
  }
  if (node.discovery_uid != pod->uid) {
    node.discovery_uid = pod->uid;
    node.discover_due = Clock::now() + options_.discovery_lag;
  }
  if (!past(node.discover_due)) return;
  node.discover_due.reset();
  const sim::Product& product = sim::product_of(node.object.annotation("test.berth.dev/product"));
  const auto wanted = sim::discovery_labels(product, node.gpus, strategy_of(node, *pod));
  json body = sim::discovery_patch(node.object.value(), wanted);
  body["metadata"]["labels"]["nvidia.com/gfd.timestamp"] = std::to_string(std::time(nullptr));
  patch_node(discovery_, name, body);
}

// --- reboots ---

void NodeAgent::begin_reboot(const std::string& name, Node& node) {
  log(name, "reboots");
  node.run.reset();
  node.manager.reset();
  node.plugin_uid.clear();
  node.discovery_uid.clear();
  node.publish_due.reset();
  node.discover_due.reset();
  node.advertising = false;
  for (sim::Gpu& gpu : node.gpus) gpu.instances.clear();  // the MIG mode survives, instances do not
  node.reboot_end = Clock::now() + options_.reboot_time;
  patch_node(kubelet_, name, metadata_patch("annotations", "test.berth.dev/not-ready", "true"));
  write_gpus(name, node);
  json body = sim::withdraw_patch(node.object.value(), {});
  json& status = body["status"];
  status["nodeInfo"]["bootID"] = new_boot_id();
  status["conditions"] =
      json::array({{{"type", "Ready"}, {"status", "False"}, {"reason", "Rebooting"}}});
  kubelet_.patch({"nodes", name}, PatchType::kStrategic, body.dump(), "status");
}

void NodeAgent::end_reboot(const std::string& name, Node& node) {
  patch_node(kubelet_, name, metadata_patch("annotations", "test.berth.dev/not-ready", nullptr));
  node.reboot_end.reset();  // kwok makes it Ready; each component's pod runs and acts as after a
                            // start
}

}  // namespace berth::test
