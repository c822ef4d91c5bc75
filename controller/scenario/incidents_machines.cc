// SPDX-License-Identifier: Apache-2.0
// Incidents: verbs about the machines of nodes and NVIDIA's components on them.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "controller/scenario/incident_args.h"
#include "controller/sim/world/object_fields.h"

namespace berth {

using Json = nlohmann::json;
using Told = Incidents::Told;
using namespace std::chrono_literals;

namespace {

sim::AgentFault fault_of(const std::string& word) {
  for (int i = 0; i <= static_cast<int>(sim::AgentFault::kReboot); ++i)
    if (word == sim::to_string(static_cast<sim::AgentFault>(i)))
      return static_cast<sim::AgentFault>(i);
  return sim::AgentFault::kNone;
}

// The labels or the annotations of the object.
std::map<std::string, std::string> texts_at(const Json& object, const char* map) {
  std::map<std::string, std::string> texts;
  const Json* found = sim::find_at(object, {"metadata", map});
  if (found == nullptr) return texts;
  for (const auto& [key, value] : found->items())
    if (value.is_string()) texts[key] = value.get<std::string>();
  return texts;
}

}  // namespace

Told Incidents::on_machine(const Incident& incident, const std::string& name) {
  const std::string& verb = incident.verb;
  Told line{.subject = name};
  if (verb == "agent-fault") {
    const int times = number(incident, "times", 1);
    world_.agents.inject(name, fault_of(arg(incident, "fault")), times);
    line.text = fmt::format("mig-manager's next run{} will fail: {}",
                            times == 1  ? ""
                            : times < 0 ? "s"
                                        : fmt::format("s ({})", times),
                            arg(incident, "fault"));
  } else if (verb == "reboot") {
    world_.agents.reboot(name);
    line.text = "reboots";
  } else if (verb == "stop-kubelet") {
    world_.kube.stop_kubelet(name);
    line.text = "its kubelet dies";
  } else if (verb == "start-kubelet") {
    world_.kube.start_kubelet(name);
    line.text = "its kubelet is back";
  } else if (verb == "gauges" || verb == "forge") {
    return on_gauges(incident, name);
  } else if (verb == "stop-exporter") {
    world_.gauges.stop_exporter(name);
    line.text = "its dcgm-exporter ends, and nothing is told of its GPUs";
  } else if (verb == "start-exporter") {
    world_.gauges.start_exporter(name);
    line.text = "its dcgm-exporter starts, and knows no error";
  } else if (verb == "remove-node") {
    world_.agents.remove_node(name);
    world_.gauges.remove_node(name);
    line.text = "leaves the cluster for good";
  } else {
    const bool saved = arg(incident, "as") == "saved";
    recreate_node(name, saved);
    line.text = saved ? "is deleted, and created again from a copy of the object"
                      : "is replaced by a new machine of the same name";
  }
  return line;
}

// Properties of the GPU that are not given keep their values.
Told Incidents::on_gauges(const Incident& incident, const std::string& name) {
  const int gpu = number(incident, "gpu", 0);
  std::string text;
  const auto set = [&](const char* what, auto& gauge) {
    if (!incident.args.contains(what)) return;
    const int value = number(incident, what, 0);
    gauge = static_cast<std::remove_reference_t<decltype(gauge)>>(value);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, value);
  };
  const auto change = [&](sim::GpuGauge& gauge) {
    set("xid", gauge.xid);
    set("temperature", gauge.temperature);
    set("doubleBitErrors", gauge.double_bit_errors);
    set("remapFailed", gauge.remap_failed);
    set("lost", gauge.lost);
  };
  if (incident.verb == "forge") {
    world_.gauges.forge(name, static_cast<std::size_t>(gpu), change);
    return {.subject = name, .text = fmt::format("a scraped pod claims of GPU {}: {}", gpu, text)};
  }
  world_.gauges.change(name, static_cast<std::size_t>(gpu), change);
  return {.subject = name, .text = fmt::format("its GPU {} shows: {}", gpu, text)};
}

void Incidents::add_node(const Incident& incident, const std::string& name) {
  sim::GpuNode node{.name = name};
  node.product = arg(incident, "product", node.product);
  node.gpus = number(incident, "gpus", node.gpus);
  const Json labels = json_of(arg(incident, "labels"));
  for (const auto& [key, value] : labels.items())
    if (value.is_string()) node.labels[key] = value.get<std::string>();
  machines_[name] = node;
  world_.gauges.add_node(node);
  world_.agents.add_node(node);
}

void Incidents::recreate_node(const std::string& name, bool saved) {
  const sim::ObjectPtr copy = saved ? person_.get("nodes", {}, name) : nullptr;
  world_.agents.remove_node(name);
  world_.gauges.remove_node(name);
  auto machine = machines_.find(name);
  if (machine == machines_.end()) return;
  sim::GpuNode node = machine->second;
  if (copy != nullptr) {
    node.labels = texts_at(*copy, "labels");
    node.annotations = texts_at(*copy, "annotations");
    node.cordoned = sim::true_at(*copy, {"spec", "unschedulable"});
  }
  world_.simulation.loop().call_after(
      1s, [&agents = world_.agents, &gauges = world_.gauges, node = std::move(node)] {
        gauges.add_node(node);
        agents.add_node(node);
      });
}

std::vector<std::string> Incidents::nodes_of(const Incident& incident) const {
  const std::string name = rest_of(incident.target);
  if (name != "all") return {name};
  std::vector<std::string> names;
  for (const sim::ObjectPtr& node : person_.list("nodes"))
    names.push_back(sim::text_at(*node, {"metadata", "name"}));
  return names;
}

}  // namespace berth
