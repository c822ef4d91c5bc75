// SPDX-License-Identifier: Apache-2.0
// The outline: watches fill changes_; run() handles them one by one, then advances every node with
// due work. node_agent_run.cc has mig-manager's run; node_agent_kubelet.cc has the kubelet, the
// device plugin and discovery.
#include "tests/support/node_agent.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <exception>

#include "controller/sim/nvidia/operands.h"
#include "tests/support/node_agent_names.h"

namespace berth::test {

using nlohmann::json;
using std::chrono::milliseconds;

std::string encode_gpus(const std::vector<sim::Gpu>& gpus) {
  json out = json::array();
  for (const sim::Gpu& gpu : gpus)
    out.push_back({{"mig", gpu.mig_enabled}, {"instances", gpu.instances}});
  return out.dump();
}

std::vector<sim::Gpu> decode_gpus(const std::string& text, int count) {
  std::vector<sim::Gpu> out;
  const json parsed = json::parse(text, nullptr, false);
  if (!parsed.is_array())
    return std::vector<sim::Gpu>(static_cast<std::size_t>(std::max(count, 0)));
  for (const json& gpu : parsed)
    out.push_back({gpu.at("mig"), gpu.at("instances").get<sim::Instances>()});
  return out;
}
NodeAgent::NodeAgent(const Credentials& credentials, NodeAgentOptions options)
    : options_(std::move(options)),
      manager_(credentials, "nvidia-mig-manager"),
      kubelet_(credentials, "kubelet"),
      discovery_(credentials, "gpu-feature-discovery"),
      operator_(credentials, "gpu-operator") {
  const auto feed = [&](const char* resource, const std::string& ns) {
    feeds_.push_back(std::make_unique<WatchFeed>(
        credentials, "berth-node-agent", collection_path(resource, ns),
        [this, resource](const std::string& type, const Object& object) {
          on_change(resource, type, object);
        }));
  };
  feed("nodes", "");
  feed("pods", options_.agent_namespace);
  feed("configmaps", options_.agent_namespace);
}

NodeAgent::~NodeAgent() = default;

void NodeAgent::on_change(const std::string& collection, const std::string& type,
                          const Object& object) {
  const std::lock_guard lock(mutex_);
  changes_.push_back({collection, type, object});
  arrived_.notify_one();
}

void NodeAgent::run(const volatile bool& stop) {
  while (!stop) {
    std::deque<Change> changes;
    {
      std::unique_lock lock(mutex_);
      const auto until =
          std::min(next_due(), Clock::now() + milliseconds(250));  // bounds the reaction to `stop`
      arrived_.wait_until(lock, until, [&] { return !changes_.empty(); });
      changes.swap(changes_);
    }
    for (const Change& change : changes) take_change(change);
    for (auto& [name, node] : nodes_) {
      try {
        advance(name, node);
      } catch (const std::exception& error) {
        log(name, error.what());  // the node or the server is gone; the next round retries
      }
    }
  }
}

// --- changes ---

void NodeAgent::take_change(const Change& change) {
  if (change.collection == "nodes") take_node(change.type, change.object);
  if (change.collection == "pods") take_pod(change.type, change.object);
  if (change.collection == "configmaps" && change.type != "DELETED") take_config_map(change.object);
  if (change.collection == "configmaps" && change.type == "DELETED")
    config_maps_.erase(change.object.name());
}

void NodeAgent::take_node(const std::string& type, const Object& object) {
  const std::string name = object.name();
  const auto found = nodes_.find(name);
  const bool other = found != nodes_.end() && found->second.object.uid() != object.uid();
  if (type == "DELETED") {
    if (found != nodes_.end() && !other) nodes_.erase(found);
    return;
  }
  if (object.annotation("test.berth.dev/product").empty()) return;  // not a GPU node of ours
  if (other) nodes_.erase(found);  // a new machine with an old name

  const auto [entry, fresh] = nodes_.try_emplace(name);
  Node& node = entry->second;
  const std::string before = node.object.label(kMigConfig);
  const std::string now = object.label(kMigConfig);
  node.object = object;
  if (fresh)
    node.gpus =
        decode_gpus(object.annotation(kInstances),
                    static_cast<int>(object.number("/metadata/annotations/test.berth.dev~1gpus")));
  // Like mig-manager's informer: an update counts only if the label's value changes.
  if (!fresh && before != now && node.manager.has_value()) node.manager->current = now;
}

void NodeAgent::take_pod(const std::string& type, const Object& object) {
  if (type == "DELETED") {
    pods_.erase(object.uid());
    return;
  }
  const auto [entry, fresh] = pods_.try_emplace(object.uid());
  Pod& pod = entry->second;
  if (fresh) {
    pod.uid = object.uid();
    pod.app = object.label("app");
    for (const Object& volume : object.items("/spec/volumes"))
      if (volume.text("/name") == "mig-parted-config")
        pod.config_map = volume.text("/configMap/name");
    for (const Object& variable : object.items("/spec/containers/0/env"))
      if (variable.text("/name") == "MIG_STRATEGY") pod.strategy = variable.text("/value");
  }
  pod.node = object.text("/spec/nodeName");
  const bool running = object.text("/status/phase") == "Running";
  if (running && !pod.running) pod.seen = Clock::now();
  pod.running = running;
}

void NodeAgent::take_config_map(const Object& object) {
  auto& versions = config_maps_[object.name()];
  std::string text = object.text("/data/config.yaml");
  if (versions.empty() || versions.back().second != text)
    versions.emplace_back(Clock::now(), std::move(text));
}

// --- one node ---

void NodeAgent::advance(const std::string& name, Node& node) {
  if (node.object.annotation("test.berth.dev/reboot") == "now" && !node.reboot_end.has_value()) {
    patch_node(kubelet_, name, metadata_patch("annotations", "test.berth.dev/reboot", nullptr));
    begin_reboot(name, node);
  }
  if (node.reboot_end.has_value()) {
    if (past(node.reboot_end)) end_reboot(name, node);
    return;  // nothing runs on a rebooting machine
  }
  advance_operator(name, node);
  advance_manager(name, node);
  advance_run(name, node);
  advance_plugin(name, node);
  advance_discovery(name, node);
}

void NodeAgent::advance_operator(const std::string& name, Node& node) {
  if (!node.object.label(kMigConfig).empty()) {
    node.operator_due.reset();
  } else if (!node.operator_due.has_value()) {
    node.operator_due = Clock::now() + options_.operator_lag;
  } else if (past(node.operator_due)) {
    node.operator_due.reset();
    patch_node(operator_, name, metadata_patch("labels", kMigConfig, "all-disabled"));
  }
}

void NodeAgent::advance_manager(const std::string& name, Node& node) {
  const Pod* pod = pod_on(name, sim::kManagerApp);
  if (pod == nullptr) {
    node.manager.reset();
    node.run.reset();  // killed during the run: the state stays as it is
    return;
  }
  if (!node.manager.has_value() || node.manager->pod_uid != pod->uid) {
    if (config_maps_.count(pod->config_map) == 0 && !pod->config_map.empty())
      return;  // the kubelet cannot mount it yet
    node.run.reset();
    node.manager = Manager{pod->uid, node.object.label(kMigConfig), "", Clock::now()};
    log(name, fmt::format("mig-manager starts; {}={}", kMigConfig, node.manager->current));
  }
  Manager& manager = *node.manager;
  if (node.run.has_value()) return;
  if (manager.current.empty() || manager.current == manager.last_read) return;
  manager.last_read = manager.current;
  node.run = Run{manager.current, Step::kStart, Clock::now(), {}};
}

void NodeAgent::end_run(Node& node) {
  node.run.reset();
  // Changes during the run: mig-manager compares values, so A→B→A is no second run; a removed label
  // starts a run with the name "".
  Manager& manager = *node.manager;
  if (manager.current == manager.last_read) return;
  manager.last_read = manager.current;
  node.run = Run{manager.current, Step::kStart, Clock::now(), {}};
}

// --- helpers ---

void NodeAgent::patch_node(Kube& as, const std::string& name, const json& body,
                           const std::string& subresource) {
  as.patch({"nodes", name}, PatchType::kMerge, body.dump(), subresource);
}

NodeAgent::Clock::time_point NodeAgent::next_due() const {
  auto next = Clock::time_point::max();
  for (const auto& [name, node] : nodes_) {
    for (const auto& due :
         {node.publish_due, node.discover_due, node.forget_due, node.reboot_end, node.operator_due})
      if (due.has_value()) next = std::min(next, *due);
    if (node.run.has_value() && node.run->step == Step::kApply)
      next = std::min(next, node.run->due);
  }
  return next;
}

void NodeAgent::log(const std::string& node, const std::string& what) const {
  const auto now = std::chrono::system_clock::now();
  fmt::print("{:%H:%M:%S} {}: {}\n", fmt::localtime(std::chrono::system_clock::to_time_t(now)),
             node, what);
  std::fflush(stdout);
}

}  // namespace berth::test
