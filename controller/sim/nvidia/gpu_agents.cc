// SPDX-License-Identifier: Apache-2.0
// One queue for all nodes. A change of a node wakes it. Then each of its components looks, in
// order, and reports when it wants to look again.
#include "controller/sim/nvidia/gpu_agents.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "apis/base/names.h"
#include "apis/base/time.h"
#include "controller/sim/kube/actor_queue.h"
#include "controller/sim/nvidia/device_plugin.h"
#include "controller/sim/nvidia/feature_discovery.h"
#include "controller/sim/nvidia/gpu_machine.h"
#include "controller/sim/nvidia/gpu_operator.h"
#include "controller/sim/nvidia/mig_manager.h"
#include "controller/sim/nvidia/operands.h"
#include "controller/sim/world/object_fields.h"
#include "controller/sim/world/object_state.h"

namespace berth::sim {
namespace {

using nlohmann::json;

constexpr auto kWatchLag = std::chrono::milliseconds(100);

std::string config_of(const ObjectPtr& node) {
  return node == nullptr ? "" : text_at(*node, {"metadata", "labels", names::kMigConfig});
}

}  // namespace

const char* to_string(AgentFault fault) {
  switch (fault) {
    case AgentFault::kNone:
      return "none";
    case AgentFault::kWedge:
      return "wedge";
    case AgentFault::kFail:
      return "fail";
    case AgentFault::kFailLabelsPaused:
      return "fail-labels-paused";
    case AgentFault::kLie:
      return "lie";
    case AgentFault::kStaleSuccess:
      return "stale-success";
    case AgentFault::kSlow:
      return "slow";
    case AgentFault::kReboot:
      return "reboot";
  }
  return "none";
}

struct GpuAgents::Parts {
  struct Host {
    Host(AgentWorld& world, const GpuNode& node)
        : machine(world, node),
          keeper(world, machine),
          manager(world, machine),
          plugin(world, machine),
          discovery(world, machine) {}
    GpuMachine machine;
    GpuOperator keeper;
    MigManager manager;
    DevicePlugin plugin;
    FeatureDiscovery discovery;
  };

  Parts(Simulation& simulation, KubeActors& kube, GpuAgentOptions options)
      : world{.simulation = simulation,
              .kube = kube,
              .options = options,
              .config = {options.agent_namespace, options.config_map, options.config_map_delay},
              .pods = Relations(simulation.store()),
              .random = simulation.fork_random()},
        queue(simulation, kWatchLag, [this](const StoreKey& key) { look(key.name); }) {}

  void on_change(const Change& change);
  void wake(const std::string& node) { queue.wake(node_key(node), world.about(kWatchLag)); }
  void look(const std::string& node);
  Host* find(const std::string& node) {
    const auto found = hosts.find(node);
    return found == hosts.end() ? nullptr : found->second.get();
  }

  AgentWorld world;
  std::map<std::string, std::unique_ptr<Host>> hosts;
  ActorQueue queue;
};

void GpuAgents::Parts::on_change(const Change& change) {
  world.pods.on_change(change);
  if (world.config.on_change(change, world.now()))
    for (const auto& [name, host] : hosts) wake(name);
  if (is(change.key, "pods") && change.key.namespace_ == world.options.agent_namespace) {
    const std::string node = node_of(*change.after);
    if (hosts.contains(node)) wake(node);
  }
  if (!is(change.key, "nodes")) return;
  Host* host = find(change.key.name);
  if (host == nullptr) return;
  const bool deleted = change.kind == Change::Kind::kDeleted;
  std::string config = config_of(deleted ? nullptr : change.after);
  if (config != config_of(change.before)) host->manager.on_label(std::move(config));
  wake(change.key.name);
}

void GpuAgents::Parts::look(const std::string& node) {
  Host* host = find(node);
  if (host == nullptr) return;
  host->machine.look();
  const bool exists = host->machine.node() != nullptr;
  if (exists) host->keeper.look();
  if (exists && host->machine.runs()) host->manager.look();
  if (exists && host->machine.runs()) {
    host->plugin.look();
    host->discovery.look();
  }

  // Work that is due on a stopped machine waits until it is back, which is a change.
  std::vector<std::optional<MonotonicTime>> dues = {host->machine.next_due()};
  if (exists) dues.push_back(host->keeper.next_due());
  if (exists && host->machine.runs()) {
    dues.push_back(host->manager.next_due());
    dues.push_back(host->plugin.next_due());
    dues.push_back(host->discovery.next_due());
  }
  for (const auto& due : dues)
    if (due) queue.wake(node_key(node), *due - world.now());
}

GpuAgents::GpuAgents(Simulation& simulation, KubeActors& kube, GpuAgentOptions options)
    : parts_(std::make_shared<Parts>(simulation, kube, std::move(options))) {
  simulation.store().observe([weak = std::weak_ptr(parts_)](const Change& change) {
    if (const auto parts = weak.lock()) parts->on_change(change);
  });
  const GpuAgentOptions& given = parts_->world.options;
  const ActorClient client(simulation.server(), "gpu-operator");
  json home;
  home["metadata"]["name"] = given.agent_namespace;
  client.create("namespaces", std::move(home));
  for (json& set : operand_daemon_sets({.namespace_ = given.agent_namespace,
                   .strategy = given.strategy,
                   .config_map = given.config_map,
                   .plugin_config_map = given.plugin_config_map,
                   .exporters = given.exporters}))
    client.create("daemonsets", std::move(set));
}

GpuAgents::~GpuAgents() = default;

void GpuAgents::add_node(const GpuNode& node) {
  AgentWorld& world = parts_->world;
  parts_->hosts[node.name] = std::make_unique<Parts::Host>(world, node);
  world.kube.start_kubelet(node.name);  // also if a machine with this name was dead
  json body;
  body["metadata"]["name"] = node.name;
  body["metadata"]["labels"] =
      usual_node_labels(node.name, node.product, node.gpus, world.options.strategy, node.labels);
  if (!node.annotations.empty()) body["metadata"]["annotations"] = node.annotations;
  body["spec"] = json::object();
  if (node.cordoned) body["spec"]["unschedulable"] = true;
  json amounts;
  amounts["cpu"] = "64";
  amounts["memory"] = "512Gi";
  amounts["pods"] = "110";
  amounts["nvidia.com/gpu"] = std::to_string(node.gpus);
  json& status = body["status"];
  status["capacity"] = status["allocatable"] = amounts;
  status["nodeInfo"]["bootID"] = world.random.uuid();
  status["nodeInfo"]["kubeletVersion"] = "v1.36.3";
  status["conditions"] =
      with_condition(body, {"Ready", "True", "KubeletReady", "kubelet is posting ready status"},
                     world.simulation.clock().wall());
  ActorClient(world.simulation.server(), "kubelet").create("nodes", std::move(body));
}

void GpuAgents::remove_node(const std::string& name) {
  AgentWorld& world = parts_->world;
  const ActorClient client(world.simulation.server(), "node-provisioner");
  json at_once;
  at_once["gracePeriodSeconds"] = 0;
  client.remove("nodes", "", name);
  for (const ObjectPtr& pod : world.pods.pods_on(name))
    client.remove("pods", namespace_of(*pod), name_of(*pod), at_once);
  parts_->hosts.erase(name);
}

void GpuAgents::inject(const std::string& node, AgentFault fault, int times) {
  if (Parts::Host* host = parts_->find(node)) host->manager.order(fault, times);
}

void GpuAgents::reboot(const std::string& node) {
  Parts::Host* host = parts_->find(node);
  if (host == nullptr) return;
  host->machine.reboot();
  parts_->wake(node);
}

std::map<std::string, int> GpuAgents::devices(const std::string& node) const {
  const Parts::Host* host = parts_->find(node);
  return host == nullptr ? std::map<std::string, int>()
                         : advertise(host->machine.gpus, "mixed").resources;
}

}  // namespace berth::sim
