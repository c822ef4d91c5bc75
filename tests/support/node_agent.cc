// SPDX-License-Identifier: Apache-2.0
// The outline: watches fill changes_; run() takes them one by one, then advances every node that
// has something due. What follows is in the order of a node's life: changes, the operator,
// mig-manager's run, the plugin, discovery, reboots.
#include "tests/support/node_agent.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <exception>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/support/mig_parted.h"

namespace berth::test {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr char kMigConfig[] = "nvidia.com/mig.config";
constexpr char kMigState[] = "nvidia.com/mig.config.state";
constexpr char kPaused[] = "paused-for-mig-change";
constexpr char kFault[] = "test.berth.dev/fault";
constexpr char kInstances[] = "test.berth.dev/instances";
constexpr char kPluginApp[] = "nvidia-device-plugin-daemonset";
constexpr char kDiscoveryApp[] = "gpu-feature-discovery";
constexpr char kManagerApp[] = "nvidia-mig-manager";
constexpr const char* kClientApps[] = {kPluginApp, kDiscoveryApp, "nvidia-dcgm-exporter",
                                       "nvidia-dcgm"};
constexpr const char* kDeployLabels[] = {
    "nvidia.com/gpu.deploy.device-plugin", "nvidia.com/gpu.deploy.gpu-feature-discovery",
    "nvidia.com/gpu.deploy.dcgm-exporter", "nvidia.com/gpu.deploy.dcgm",
    "nvidia.com/gpu.deploy.nvsm"};
constexpr char kDeployClient[] = "nvidia.com/gpu.deploy.client";

bool past(const std::optional<NodeAgent::Clock::time_point>& due) {
  return due.has_value() && *due <= NodeAgent::Clock::now();
}

bool is_gpu_resource(const std::string& key) { return key.rfind("nvidia.com/", 0) == 0; }

std::string new_boot_id() {
  std::random_device random;
  return fmt::format("{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}", random(), random() & 0xffff,
                     random() & 0xfff, random() & 0xfff, random());
}

json metadata_patch(const char* field, const std::string& key, json value) {
  json body;
  body["metadata"][field][key] = std::move(value);
  return body;
}

bool asks_for_gpu(const Object& pod) {
  for (const char* list : {"/spec/containers", "/spec/initContainers"})
    for (const Object& container : pod.items(list))
      for (const auto& [key, value] : container.strings("/resources/limits"))
        if (is_gpu_resource(key) && value != "0") return true;
  return false;
}

// "slow:4000" → 4000.
std::optional<milliseconds> argument_of(const std::string& fault) {
  const std::size_t colon = fault.find(':');
  if (colon == std::string::npos) return std::nullopt;
  return milliseconds(std::atoll(fault.c_str() + colon + 1));
}

std::string kind_of_fault(const std::string& fault) {
  std::string kind = fault.substr(0, fault.find(':'));
  const std::size_t once = kind.rfind("-once");
  return once == std::string::npos ? kind : kind.substr(0, once);
}

}  // namespace

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
          std::min(next_due(), Clock::now() + milliseconds(250));  // how soon `stop` is seen
      arrived_.wait_until(lock, until, [&] { return !changes_.empty(); });
      changes.swap(changes_);
    }
    for (const Change& change : changes) take_change(change);
    for (auto& [name, node] : nodes_) {
      try {
        advance(name, node);
      } catch (const std::exception& error) {
        log(name, error.what());  // the node is gone, or the server is away: the next round sees
      }
    }
  }
}

// --- changes
// -------------------------------------------------------------------------------------------------------

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
  if (other) nodes_.erase(found);  // a new machine under an old name

  const auto [entry, fresh] = nodes_.try_emplace(name);
  Node& node = entry->second;
  const std::string before = node.object.label(kMigConfig);
  const std::string now = object.label(kMigConfig);
  node.object = object;
  if (fresh)
    node.gpus =
        decode_gpus(object.annotation(kInstances),
                    static_cast<int>(object.number("/metadata/annotations/test.berth.dev~1gpus")));
  // mig-manager's informer: an update counts only when the label's value differs.
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

// --- one node
// ------------------------------------------------------------------------------------------------------

void NodeAgent::advance(const std::string& name, Node& node) {
  if (node.object.annotation("test.berth.dev/reboot") == "now" && !node.reboot_end.has_value()) {
    patch_node(kubelet_, name, metadata_patch("annotations", "test.berth.dev/reboot", nullptr));
    begin_reboot(name, node);
  }
  if (node.reboot_end.has_value()) {
    if (past(node.reboot_end)) end_reboot(name, node);
    return;  // nothing runs on a machine that is down
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
  const Pod* pod = pod_on(name, kManagerApp);
  if (pod == nullptr) {
    node.manager.reset();
    node.run.reset();  // killed in the middle: the state stays as it is
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
  // What came during the run: the reader compares, so A→B→A is no second run; a removed label makes
  // one with the name "".
  Manager& manager = *node.manager;
  if (manager.current == manager.last_read) return;
  manager.last_read = manager.current;
  node.run = Run{manager.current, Step::kStart, Clock::now(), {}};
}

// --- mig-manager's run
// ---------------------------------------------------------------------------------------------

void NodeAgent::advance_run(const std::string& name, Node& node) {
  if (!node.run.has_value()) return;
  Run& run = *node.run;
  if (run.step == Step::kStart) start_run(name, node);
  if (!node.run.has_value() || node.run->step == Step::kStart) return;

  if (run.step == Step::kWaitForPods) {
    const bool wedged = kind_of_fault(node.object.annotation(kFault)) == "wedge";
    if (wedged || client_pods_left(name)) {
      if (Clock::now() < run.deadline && !wedged) return;
      take_fault(name, node);
      log(name, "the wait for the plugin's pods failed: the run ends without a word");
      return end_run(node);
    }
    const std::string fault = node.object.annotation(kFault);
    milliseconds time = options_.apply_time;
    if (kind_of_fault(fault) == "slow") {
      take_fault(name, node);
      time = argument_of(fault).value_or(10 * options_.apply_time);
    }
    run.step = Step::kApply;
    run.due = Clock::now() + time;
  }
  if (run.step == Step::kApply && past(run.due)) return apply(name, node);
}

void NodeAgent::start_run(const std::string& name, Node& node) {
  Run& run = *node.run;
  const std::string config_map = [&] {
    const Pod* pod = pod_on(name, kManagerApp);
    return visible_config(*pod, *node.manager).value_or("");
  }();
  const PartedFile file = parse_parted_file(config_map);
  if (!file.error.empty()) return fail(name, node, "the configuration file: " + file.error, true);
  const auto config = file.configs.find(run.config);
  if (config == file.configs.end())
    return fail(name, node, "no configuration named " + run.config, true);

  const Product& product = product_of(node.object.annotation("test.berth.dev/product"));
  if (is_applied(config->second, product, node.gpus)) {
    restore_labels(name);
    write_state(name, "success");
    log(name, run.config + " is applied already");
    return end_run(node);
  }
  write_state(name, "pending");
  pause_labels(name, node);
  log(name, run.config + ": waiting for the plugin's pods to go");
  run.step = Step::kWaitForPods;
  run.deadline = Clock::now() + options_.pod_wait;
}

void NodeAgent::apply(const std::string& name, Node& node) {
  const std::string fault = kind_of_fault(take_fault(name, node));
  if (fault == "fail") return fail(name, node, "told to fail", true);
  if (fault == "fail-labels-paused")
    return fail(name, node, "told to fail and leave the labels", false);
  const std::string user = gpu_user_on(name);
  if (!user.empty()) return fail(name, node, "in use by another client: " + user, true);

  // Every invocation of mig-parted reads the file again; a config that has vanished meanwhile fails
  // here.
  const PartedFile file =
      parse_parted_file(visible_config(*pod_on(name, kManagerApp), *node.manager).value_or(""));
  const auto config = file.configs.find(node.run->config);
  if (config == file.configs.end())
    return fail(name, node, "no configuration named " + node.run->config, true);

  std::vector<Gpu> gpus = node.gpus;
  const std::string refused = apply_config(
      config->second, product_of(node.object.annotation("test.berth.dev/product")), gpus);
  if (fault == "lie")
    for (Gpu& gpu : gpus) gpu.instances.clear();
  node.gpus = gpus;
  write_gpus(name, node);
  if (fault == "reboot") {
    write_state(name, "rebooting");
    return begin_reboot(name, node);
  }
  if (!refused.empty()) return fail(name, node, refused, true);
  restore_labels(name);
  write_state(name, "success");
  log(name, node.run->config + " applied");
  end_run(node);
}

void NodeAgent::fail(const std::string& name, Node& node, const std::string& why, bool restore) {
  log(name, "failed: " + why);
  if (restore) restore_labels(name);
  write_state(name, "failed");
  end_run(node);
}

void NodeAgent::write_state(const std::string& name, const std::string& state) {
  patch_node(manager_, name, metadata_patch("labels", kMigState, state));
}

void NodeAgent::pause_labels(const std::string& name, Node& node) {
  json body;
  for (const char* label : kDeployLabels)
    if (node.object.label(label) != "false") body["metadata"]["labels"][label] = kPaused;
  const std::string client = node.object.label(kDeployClient);
  if (!client.empty() && client != "false") body["metadata"]["labels"][kDeployClient] = kPaused;
  patch_node(manager_, name, body);
}

void NodeAgent::restore_labels(const std::string& name) {
  const Object now = manager_.get({"nodes", name});
  json body;
  for (const char* label : kDeployLabels)
    if (now.label(label) != "false") body["metadata"]["labels"][label] = "true";
  const std::string client = now.label(kDeployClient);
  if (!client.empty() && client != "false") body["metadata"]["labels"][kDeployClient] = "true";
  patch_node(manager_, name, body);
}

void NodeAgent::write_gpus(const std::string& name, Node& node) {
  patch_node(kubelet_, name, metadata_patch("annotations", kInstances, encode_gpus(node.gpus)));
}

std::string NodeAgent::take_fault(const std::string& name, Node& node) {
  const std::string fault = node.object.annotation(kFault);
  if (fault.find("-once") != std::string::npos || kind_of_fault(fault) == "reboot")
    patch_node(kubelet_, name, metadata_patch("annotations", kFault, nullptr));
  return fault;
}

std::string NodeAgent::gpu_user_on(const std::string& name) {
  for (const Object& pod : manager_.list("pods", "", "fieldSelector=spec.nodeName=" + name))
    if (pod.text("/status/phase") == "Running" && asks_for_gpu(pod))
      return pod.ns() + "/" + pod.name();
  return "";
}

const NodeAgent::Pod* NodeAgent::pod_on(const std::string& node, const std::string& app) const {
  for (const auto& [uid, pod] : pods_)
    if (pod.node == node && pod.app == app && pod.running) return &pod;
  return nullptr;
}

bool NodeAgent::client_pods_left(const std::string& node) const {
  for (const auto& [uid, pod] : pods_)
    for (const char* app : kClientApps)
      if (pod.node == node && pod.app == app) return true;
  return false;
}

std::optional<std::string> NodeAgent::visible_config(const Pod& pod, const Manager& manager) const {
  const auto found = config_maps_.find(pod.config_map);
  if (found == config_maps_.end() || found->second.empty()) return std::nullopt;
  // At its start a pod mounts what is there; afterwards changes come late.
  const auto seen_until = std::max(manager.started, Clock::now() - options_.configmap_delay);
  std::optional<std::string> out;
  for (const auto& [arrived, text] : found->second)
    if (arrived <= seen_until || !out.has_value()) out = text;
  return out;
}

// --- the device plugin, with the kubelet's part
// --------------------------------------------------------------------

void NodeAgent::advance_plugin(const std::string& name, Node& node) {
  const Pod* pod = pod_on(name, kPluginApp);
  if (pod == nullptr) {
    node.plugin_uid.clear();
    node.publish_due.reset();
    if (!node.advertising) return advance_forgetting(name, node);
    node.advertising = false;
    node.forget_due = Clock::now() + options_.capacity_grace;
    json body;
    for (const auto& [key, value] : node.object.strings("/status/allocatable"))
      if (is_gpu_resource(key)) body["status"]["allocatable"][key] = "0";
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
    const Advertised advertised = advertise(node.gpus, strategy_of(node, *pod));
    if (advertised.crashed)
      log(name, "the device plugin crashes: GPUs differ under strategy single");
    json status;
    for (const auto& [key, value] : node.object.strings("/status/allocatable"))
      if (is_gpu_resource(key)) status["allocatable"][key] = "0";
    for (const auto& [key, count] : advertised.resources)
      status["capacity"][key] = status["allocatable"][key] = std::to_string(count);
    node.forget_due = Clock::now() + options_.capacity_grace;
    if (!status.is_null()) patch_node(kubelet_, name, {{"status", status}}, "status");
  }
  advance_forgetting(name, node);
}

// The kubelet's grace for resources nobody serves: then capacity is 0 too, and the key stays.
void NodeAgent::advance_forgetting(const std::string& name, Node& node) {
  if (!past(node.forget_due)) return;
  node.forget_due.reset();
  const auto allocatable = node.object.strings("/status/allocatable");
  json body;
  for (const auto& [key, value] : node.object.strings("/status/capacity")) {
    const auto left = allocatable.find(key);
    if (is_gpu_resource(key) && value != "0" && (left == allocatable.end() || left->second == "0"))
      body["status"]["capacity"][key] = "0";
  }
  if (!body.is_null()) patch_node(kubelet_, name, body, "status");
}

std::string NodeAgent::strategy_of(const Node& node, const Pod& pod) const {
  const std::string own = node.object.annotation("test.berth.dev/mig-strategy");
  if (!own.empty()) return own;
  return pod.strategy.empty() ? "mixed" : pod.strategy;
}

// --- GPU feature discovery
// -----------------------------------------------------------------------------------------

void NodeAgent::advance_discovery(const std::string& name, Node& node) {
  const Pod* pod = pod_on(name, kDiscoveryApp);
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
  const Product& product = product_of(node.object.annotation("test.berth.dev/product"));
  const auto wanted = discovery_labels(product, node.gpus, strategy_of(node, *pod));
  json labels;
  for (const auto& [key, value] : node.object.strings("/metadata/labels")) {
    const bool owned = key.rfind("nvidia.com/mig-", 0) == 0 ||
                       key.rfind("nvidia.com/gpu.slices.", 0) == 0 ||
                       key == "nvidia.com/mig.strategy";
    if (owned && wanted.count(key) == 0) labels[key] = nullptr;
  }
  for (const auto& [key, value] : wanted) labels[key] = value;
  labels["nvidia.com/gfd.timestamp"] = std::to_string(std::time(nullptr));
  patch_node(discovery_, name, {{"metadata", {{"labels", labels}}}});
}

// --- reboots
// -------------------------------------------------------------------------------------------------------

void NodeAgent::begin_reboot(const std::string& name, Node& node) {
  log(name, "reboots");
  node.run.reset();
  node.manager.reset();
  node.plugin_uid.clear();
  node.discovery_uid.clear();
  node.publish_due.reset();
  node.discover_due.reset();
  node.advertising = false;
  for (Gpu& gpu : node.gpus) gpu.instances.clear();  // the mode survives, instances do not
  node.reboot_end = Clock::now() + options_.reboot_time;
  patch_node(kubelet_, name, metadata_patch("annotations", "test.berth.dev/not-ready", "true"));
  write_gpus(name, node);
  json status;
  for (const auto& [key, value] : node.object.strings("/status/allocatable"))
    if (is_gpu_resource(key)) status["allocatable"][key] = "0";
  status["nodeInfo"]["bootID"] = new_boot_id();
  status["conditions"] =
      json::array({{{"type", "Ready"}, {"status", "False"}, {"reason", "Rebooting"}}});
  kubelet_.patch({"nodes", name}, PatchType::kStrategic, json{{"status", status}}.dump(), "status");
}

void NodeAgent::end_reboot(const std::string& name, Node& node) {
  patch_node(kubelet_, name, metadata_patch("annotations", "test.berth.dev/not-ready", nullptr));
  node.reboot_end.reset();  // kwok makes it Ready; each agent's pod is found running, and acts as
                            // after a start
}

// --- helpers
// -------------------------------------------------------------------------------------------------------

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
