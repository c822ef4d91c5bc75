// SPDX-License-Identifier: Apache-2.0
// mig-manager's run for one label value, step by step: assert, pause, wait for the plugin's pods,
// apply, restore.
#include <fmt/format.h>

#include <algorithm>

#include "controller/sim/nvidia/gpu_resources.h"
#include "controller/sim/nvidia/mig_parted.h"
#include "controller/sim/nvidia/operands.h"
#include "tests/support/node_agent.h"
#include "tests/support/node_agent_names.h"

namespace berth::test {
namespace {

using sim::parse_parted_file;
using sim::PartedFile;
using sim::Product;
using sim::product_of;
using std::chrono::milliseconds;

// Parses "slow:4000" to 4000.
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
    const Pod* pod = pod_on(name, sim::kManagerApp);
    return visible_config(*pod, *node.manager).value_or("");
  }();
  const PartedFile file = parse_parted_file(config_map);
  if (!file.error.empty()) return fail(name, node, "the configuration file: " + file.error, true);
  const auto config = file.configs.find(run.config);
  if (config == file.configs.end())
    return fail(name, node, "no configuration named " + run.config, true);

  const Product& product = product_of(node.object.annotation("test.berth.dev/product"));
  if (sim::is_applied(config->second, product, node.gpus)) {
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

  // Every invocation of mig-parted reads the file again, and fails here if the config has vanished.
  const PartedFile file = parse_parted_file(
      visible_config(*pod_on(name, sim::kManagerApp), *node.manager).value_or(""));
  const auto config = file.configs.find(node.run->config);
  if (config == file.configs.end())
    return fail(name, node, "no configuration named " + node.run->config, true);

  std::vector<sim::Gpu> gpus = node.gpus;
  const std::string refused = sim::apply_config(
      config->second, product_of(node.object.annotation("test.berth.dev/product")), gpus);
  if (fault == "lie")
    for (sim::Gpu& gpu : gpus) gpu.instances.clear();
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
  patch_node(manager_, name, sim::pause_patch(node.object.value()));
}

void NodeAgent::restore_labels(const std::string& name) {
  patch_node(manager_, name, sim::restore_patch(manager_.get({"nodes", name}).value()));
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
    if (pod.text("/status/phase") == "Running" && sim::asks_for_gpu(pod.value()))
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
    for (const char* app : sim::kClientApps)
      if (pod.node == node && pod.app == app) return true;
  return false;
}

std::optional<std::string> NodeAgent::visible_config(const Pod& pod, const Manager& manager) const {
  const auto found = config_maps_.find(pod.config_map);
  if (found == config_maps_.end() || found->second.empty()) return std::nullopt;
  // A pod mounts the present content when it starts; later changes arrive late.
  const auto seen_until = std::max(manager.started, Clock::now() - options_.configmap_delay);
  std::optional<std::string> out;
  for (const auto& [arrived, text] : found->second)
    if (arrived <= seen_until || !out.has_value()) out = text;
  return out;
}

}  // namespace berth::test
