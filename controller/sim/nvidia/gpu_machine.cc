// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/nvidia/gpu_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "controller/sim/nvidia/gpu_resources.h"
#include "controller/sim/nvidia/operands.h"
#include "controller/sim/world/object_fields.h"
#include "controller/sim/world/object_state.h"

namespace berth::sim {
namespace {

using nlohmann::json;

std::string app_of(const json& pod) { return text_at(pod, {"metadata", "labels", "app"}); }

bool is_running(const json& pod) { return text_at(pod, {"status", "phase"}) == "Running"; }

}  // namespace

GpuMachine::GpuMachine(AgentWorld& world, const GpuNode& node)
    : gpus(static_cast<std::size_t>(node.gpus)),
      world_(world),
      node_(node),
      product_(product_of(node.product)),
      kubelet_(world.simulation.server(), "kubelet") {}

bool GpuMachine::runs() const { return !reboot_end_ && world_.kube.is_alive(name()); }

void GpuMachine::reboot() {
  if (reboot_end_) return;
  reboot_end_ = world_.now() + world_.about(world_.options.reboot_time);
  for (Gpu& gpu : gpus) gpu.instances.clear();
  for (const ObjectPtr& pod : world_.pods.pods_on(name())) without_devices_.insert(uid_of(*pod));
  if (const ObjectPtr now = node()) {
    const NewCondition down{"Ready", "False", "KubeletNotReady", "node is shutting down"};
    json body;
    body["status"]["conditions"] = with_condition(*now, down, world_.simulation.clock().wall());
    patch(kubelet_, std::move(body), "status");
  }
  world_.kube.stop_kubelet(name());
}

void GpuMachine::look() {
  if (!reboot_end_ || *reboot_end_ > world_.now()) return;
  reboot_end_.reset();
  ++boots_;
  if (const ObjectPtr now = node()) {
    json body = withdraw_patch(*now, {});
    body["status"]["nodeInfo"]["bootID"] = world_.random.uuid();
    patch(kubelet_, std::move(body), "status");
  }
  world_.kube.start_kubelet(name());
}

ObjectPtr GpuMachine::node() const { return world_.simulation.store().find(node_key(name())); }

std::string GpuMachine::label(const char* key) const {
  const ObjectPtr now = node();
  return now == nullptr ? "" : text_at(*now, {"metadata", "labels", key});
}

void GpuMachine::patch(const ActorClient& as, json patch, const std::string& subresource) const {
  as.merge_patch("nodes", "", name(), std::move(patch), subresource);
}

void GpuMachine::set_label(const ActorClient& as, const char* key, const std::string& value) const {
  json body;
  body["metadata"]["labels"][key] = value;
  patch(as, std::move(body));
}

std::string GpuMachine::process(std::string_view app) const {
  for (const ObjectPtr& pod : world_.pods.pods_on(name()))
    if (namespace_of(*pod) == world_.options.agent_namespace && app_of(*pod) == app &&
        is_running(*pod) && !is_terminating(*pod))
      return fmt::format("{}/{}", uid_of(*pod), boots_);
  return "";
}

bool GpuMachine::has_gpu_clients() const {
  return std::ranges::any_of(world_.pods.pods_on(name()), [&](const ObjectPtr& pod) {
    return namespace_of(*pod) == world_.options.agent_namespace &&
           std::ranges::count(kClientApps, app_of(*pod)) > 0;
  });
}

std::string GpuMachine::gpu_user() const {
  for (const ObjectPtr& pod : world_.pods.pods_on(name()))
    if (is_running(*pod) && asks_for_gpu(*pod) && !without_devices_.contains(uid_of(*pod)))
      return fmt::format("{}/{}", namespace_of(*pod), name_of(*pod));
  return "";
}

}  // namespace berth::sim
