// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/cluster_copy.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "apis/base/names.h"
#include "apis/codec/decode.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/fleet/node_facts.h"
#include "controller/sim/world/object_fields.h"

namespace berth {
namespace {

using nlohmann::json;
using sim::text_at;

constexpr char kStandIn[] = "simulation.gpu.berth.dev/stand-in";

json member(const json& object, sim::FieldPath path, json otherwise) {
  const json* found = sim::find_at(object, path);
  return found == nullptr || found->is_null() ? std::move(otherwise) : *found;
}

std::map<std::string, std::string> texts_at(const json& object, sim::FieldPath path) {
  std::map<std::string, std::string> texts;
  const json members = member(object, path, json::object());
  for (const auto& [key, value] : members.items())
    if (value.is_string()) texts[key] = value.get<std::string>();
  return texts;
}

// The controller in the owner references; null if there is none.
const json* controller_of(const json& object) {
  const json* owners = sim::find_at(object, {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return nullptr;
  for (const json& owner : *owners)
    if (sim::true_at(owner, {"controller"})) return &owner;
  return nullptr;
}

class Copier {
 public:
  Copier(const Settings& settings, const std::vector<std::string>& manifests) {
    scenario_.settings = settings;
    scenario_.agents.agent_namespace = settings.agents_namespace;
    scenario_.agents.config_map = settings.mig_config_map;
    for (const std::string& text : manifests) {
      const json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
      given_.insert(text_at(object, {"metadata", "name"}));
      scenario_.timeline.push_back(
          {.at = std::chrono::seconds(1), .verb = "apply", .manifest = text});
    }
  }

  void add(const json& item) {
    const std::string kind = text_at(item, {"kind"});
    if (kind == "Node") add_node(item);
    if (kind == "Pod") add_pod(item);
    if (kind == "Job") jobs_[text_at(item, {"metadata", "uid"})] = item;
    if (kind == "PodDisruptionBudget") add_budget(item);
    if (kind == "MIGLayout") add_layout(item);
    if (kind == "ConfigMap") add_config_map(item);
    if (kind == "ClusterPolicy") {
      const std::string strategy = text_at(item, {"spec", "mig", "strategy"});
      if (!strategy.empty()) scenario_.agents.strategy = strategy;
    }
  }

  Scenario take() {
    add_agents_file();
    for (const auto& [key, owner] : owners_) scenario_.objects.push_back(owner.dump());
    for (const json& pod : pods_) scenario_.objects.push_back(pod.dump());
    return std::move(scenario_);
  }

 private:
  void add_node(const json& item) {
    std::string text = item.dump();
    const Result<Node> node = decode_object<Node>(text);
    if (!node) return;
    const std::optional<Inventory> inventory = inventory_of(*node);
    if (!inventory) return;  // no GPU node, or its GPUs are unknown
    sim::GpuNode copy{.name = node->meta.name,
                      .product = inventory->product,
                      .gpus = static_cast<int>(inventory->count),
                      .labels = texts_at(item, {"metadata", "labels"}),
                      .annotations = texts_at(item, {"metadata", "annotations"}),
                      .cordoned = node->cordoned()};
    // berth's own cordon belongs to the rollout, which is not copied.
    const RolloutRecord record = read_rollout(*node);
    if (record.rollout && !record.idle() && record.rollout->berth_cordoned) copy.cordoned = false;
    copy.annotations.erase(names::kRolloutAnnotation);
    for (const char* of_the_agents : {names::kGpuProduct, names::kGpuCount, names::kMigConfigState})
      copy.labels.erase(of_the_agents);
    scenario_.nodes.push_back({.numbered = false, .like = std::move(copy)});
  }

  void add_pod(const json& item) {
    const std::string namespace_ = text_at(item, {"metadata", "namespace"});
    const std::string phase = text_at(item, {"status", "phase"});
    const json* owner = controller_of(item);
    if (namespace_ == scenario_.settings.agents_namespace || phase == "Succeeded" ||
        phase == "Failed" || !text_at(item, {"metadata", "deletionTimestamp"}).empty() ||
        (owner != nullptr && text_at(*owner, {"kind"}) == "DaemonSet"))
      return;
    json pod = {{"apiVersion", "v1"},
                {"kind", "Pod"},
                {"metadata",
                 {{"name", text_at(item, {"metadata", "name"})},
                  {"namespace", namespace_},
                  {"labels", member(item, {"metadata", "labels"}, json::object())},
                  {"annotations", member(item, {"metadata", "annotations"}, json::object())}}},
                {"spec", runnable(member(item, {"spec"}, json::object()))}};
    if (owner != nullptr) put_under_stand_in(*owner, pod);
    pods_.push_back(std::move(pod));
  }

  // A snapshot contains no images and no limits.
  static json runnable(json spec) {
    if (!spec["containers"].is_array() || spec["containers"].empty())
      spec["containers"] = json::array({json::object()});
    int index = 0;
    for (const char* list : {"containers", "initContainers"}) {
      if (!spec.contains(list) || !spec[list].is_array()) continue;
      for (json& container : spec[list]) {
        if (!container.is_object()) container = json::object();
        container["name"] = fmt::format("c{}", index++);
        container["image"] = "registry.example.com/copy";
        const json requests = member(container, {"resources", "requests"}, json::object());
        for (const auto& [name, count] : requests.items())
          if (name.find('/') != name.npos) container["resources"]["limits"][name] = count;
      }
    }
    spec.erase("volumes");  // a snapshot has no names of mounted volumes either
    // It has no PriorityClasses either, and without one a pod may not state a priority.
    for (const char* field : {"priority", "preemptionPolicy", "priorityClassName"})
      spec.erase(field);
    return spec;
  }

  // The owner's uid is known once the owner is created.
  void put_under_stand_in(const json& owner, json& pod) {
    const std::string kind = text_at(owner, {"kind"}) == "Job" ? "Job" : "ReplicaSet";
    const std::string name = text_at(owner, {"name"});
    const std::string namespace_ = pod["metadata"]["namespace"].get<std::string>();
    const std::string mark = fmt::format("{}-{}", owners_.size(), kind);
    json& stand_in = owners_[fmt::format("{}/{}/{}", kind, namespace_, name)];
    if (stand_in.is_null()) {
      stand_in = {{"apiVersion", kind == "Job" ? "batch/v1" : "apps/v1"},
                  {"kind", kind},
                  {"metadata", {{"name", name}, {"namespace", namespace_}}},
                  {"spec", kind == "Job" ? job_spec(owner) : set_spec(mark)}};
      json meta = {{"labels", pod["metadata"]["labels"]},
                   {"annotations", pod["metadata"]["annotations"]}};
      if (kind != "Job") meta["labels"][kStandIn] = mark;
      json spec = pod["spec"];
      spec.erase("nodeName");
      if (kind == "Job") spec["restartPolicy"] = "Never";
      stand_in["spec"]["template"] = {{"metadata", std::move(meta)}, {"spec", std::move(spec)}};
    } else if (kind == "ReplicaSet") {
      stand_in["spec"]["replicas"] = stand_in["spec"]["replicas"].get<int>() + 1;
    }
    pod["metadata"]["labels"] = stand_in["spec"]["template"]["metadata"]["labels"];
    pod["metadata"]["ownerReferences"] = json::array({{{"apiVersion", stand_in["apiVersion"]},
                                                       {"kind", kind},
                                                       {"name", name},
                                                       {"controller", true},
                                                       {"blockOwnerDeletion", true}}});
  }

  static json set_spec(const std::string& mark) {
    return {{"replicas", 1}, {"selector", {{"matchLabels", {{kStandIn, mark}}}}}};
  }

  json job_spec(const json& owner) {
    json spec = json::object();
    auto job = jobs_.find(text_at(owner, {"uid"}));
    const json original = job == jobs_.end() ? json::object() : job->second;
    for (const char* field : {"parallelism", "backoffLimit", "podFailurePolicy"})
      if (const json* value = sim::find_at(original, {"spec", field})) spec[field] = *value;
    spec["completions"] = member(spec, {"parallelism"}, 1);
    return spec;
  }

  void add_budget(const json& item) {
    const json* selector = sim::find_at(item, {"spec", "selector"});
    if (selector == nullptr) return;
    const std::int64_t needed = sim::integer_at(item, {"status", "desiredHealthy"}).value_or(0);
    const json budget = {{"apiVersion", "policy/v1"},
                         {"kind", "PodDisruptionBudget"},
                         {"metadata",
                          {{"name", text_at(item, {"metadata", "name"})},
                           {"namespace", text_at(item, {"metadata", "namespace"})}}},
                         {"spec", {{"selector", *selector}, {"minAvailable", needed}}}};
    scenario_.objects.push_back(budget.dump());
  }

  void add_layout(const json& item) {
    const std::string name = text_at(item, {"metadata", "name"});
    if (given_.contains(name) || !text_at(item, {"metadata", "deletionTimestamp"}).empty()) return;
    scenario_.objects.push_back(json{{"apiVersion", "gpu.berth.dev/v1alpha1"},
                                     {"kind", "MIGLayout"},
                                     {"metadata", {{"name", name}}},
                                     {"spec", member(item, {"spec"}, json::object())}}
                                    .dump());
  }

  void add_config_map(const json& item) {
    const Settings& settings = scenario_.settings;
    if (text_at(item, {"metadata", "namespace"}) != settings.agents_namespace) return;
    const std::string name = text_at(item, {"metadata", "name"});
    if (name == settings.mig_config_map || (agents_file_.is_null() && !name.empty()))
      agents_file_ = member(item, {"data"}, json::object());
  }

  // The file for NVIDIA's node components, from the start. Otherwise they could not partition nodes
  // that the snapshot has partitioned.
  void add_agents_file() {
    if (!agents_file_.is_object() || agents_file_.empty()) return;
    scenario_.objects.push_back(json{
        {"apiVersion", "v1"},
        {"kind", "ConfigMap"},
        {"metadata",
         {{"name", scenario_.settings.mig_config_map},
          {"namespace", scenario_.settings.agents_namespace}}},
        {"data", agents_file_}}.dump());
  }

  Scenario scenario_;
  std::set<std::string> given_;
  std::map<std::string, json> jobs_;  // by uid
  std::map<std::string, json> owners_;
  std::vector<json> pods_;
  json agents_file_;
};

}  // namespace

Result<Scenario> copy_of_cluster(std::string_view snapshot, const Settings& settings,
                                 const std::vector<std::string>& manifests) {
  const json document = json::parse(snapshot, nullptr, /*allow_exceptions=*/false);
  const json* items = sim::find_at(document, {"items"});
  if (items == nullptr || !items->is_array())
    return decode_error("snapshot", "is not a berth snapshot: a list of items is expected");
  Copier copier(settings, manifests);
  // In the snapshot, Jobs come after their pods.
  for (const json& item : *items)
    if (text_at(item, {"kind"}) == "Job") copier.add(item);
  for (const json& item : *items)
    if (text_at(item, {"kind"}) != "Job") copier.add(item);
  Scenario scenario = copier.take();
  if (scenario.nodes.empty())
    return invalid_spec("", "there is no GPU node in this cluster whose GPUs berth knows");
  return scenario;
}

}  // namespace berth
