// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/defaults.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "controller/sim/server/custom_schema.h"
#include "controller/sim/server/webhook_configurations.h"
#include "controller/sim/server/writes.h"
#include "controller/sim/world/object_fields.h"

namespace berth::sim {

using nlohmann::json;

namespace {

// Maps whose values are data: an empty map is removed, an empty value stays.
constexpr std::string_view kMaps[] = {"labels",       "annotations", "matchLabels",   "data",
                                      "nodeSelector", "binaryData",  "capacity",      "allocatable",
                                      "limits",       "requests",    "disruptedPods", "hard",
                                      "used"};
constexpr std::string_view kQuantities[] = {"capacity", "allocatable", "limits",
                                            "requests", "hard",        "used"};
// Fields that are absent if they have Go's zero value.
constexpr std::string_view kZeroIsAbsent[] = {
    "unschedulable", "hostNetwork", "hostPID",           "hostIPC", "nodeName", "value",
    "podCIDR",       "providerID",  "priorityClassName", "reason",  "message",  "generateName"};

constexpr std::string_view kTopLevel[] = {"apiVersion", "kind", "metadata", "spec", "status"};

template <class Names>
bool among(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != std::end(names);
}

bool is_zero(const json& value) {
  return (value.is_string() && value.get_ref<const std::string&>().empty()) ||
         (value.is_boolean() && !value.get<bool>());
}

void drop_nothings(json& value);

// True if the member has an empty value and must be removed.
bool is_nothing(const std::string& name, json& value) {
  if (value.is_null()) return true;
  if (value.is_object() && among(kMaps, name)) {
    for (auto member = value.begin(); member != value.end();) {
      if (member->is_null())
        member = value.erase(member);
      else
        ++member;
    }
    if (among(kQuantities, name))
      for (json& quantity : value)
        if (quantity.is_number()) quantity = quantity.dump();
    return value.empty();
  }
  if (is_zero(value) && among(kZeroIsAbsent, name)) return true;
  drop_nothings(value);
  return value.is_array() && value.empty();
}

void drop_nothings(json& value) {
  if (value.is_array()) {
    for (json& item : value) drop_nothings(item);
  } else if (value.is_object()) {
    auto& members = value.get_ref<json::object_t&>();
    for (auto member = members.begin(); member != members.end();) {
      auto& [name, inner] = *member;
      // Field sets consist of empty objects, so nothing inside them is removed.
      const bool owners = name == "managedFields" && !inner.is_null();
      const bool metadata = name == "metadata";
      if (metadata && inner.is_object()) drop_nothings(inner);
      if (!owners && !metadata && is_nothing(name, inner))
        member = members.erase(member);
      else
        ++member;
    }
  }
}

void fill(json& object, const char* name, json value) {
  if (!object.contains(name)) object[name] = std::move(value);
}

// The member as an object; creates it if it is missing.
json& part(json& object, const char* name) {
  json& member = object[name];
  if (!member.is_object()) member = json::object();
  return member;
}

void default_container(json& container) {
  if (!container.is_object()) return;
  fill(container, "resources", json::object());
  fill(container, "terminationMessagePath", "/dev/termination-log");
  fill(container, "terminationMessagePolicy", "File");
  if (!container.contains("imagePullPolicy")) {
    const std::string image = text_at(container, {"image"});
    const std::size_t slash = image.rfind('/');
    const std::size_t colon = image.rfind(':');
    const bool tagged =
        image.find('@') != std::string::npos ||
        (colon != std::string::npos && (slash == std::string::npos || colon > slash));
    const bool latest = !tagged || image.ends_with(":latest");
    container["imagePullPolicy"] = latest ? "Always" : "IfNotPresent";
  }
  const json* limits = find_at(container, {"resources", "limits"});
  if (limits == nullptr || !limits->is_object()) return;
  const json copied = *limits;
  for (const auto& [name, quantity] : copied.items())
    fill(part(container["resources"], "requests"), name.c_str(), quantity);
}

void default_pod_spec(json& spec, bool template_) {
  for (const char* list : {"containers", "initContainers"})
    if (spec.contains(list) && spec[list].is_array())
      for (json& container : spec[list]) {
        const bool had_requests = find_at(container, {"resources", "requests"}) != nullptr;
        default_container(container);
        // A template's limits become requests only when a pod is made from it.
        if (template_ && !had_requests && container.is_object())
          container["resources"].erase("requests");
      }
  fill(spec, "restartPolicy", "Always");
  fill(spec, "terminationGracePeriodSeconds", 30);
  fill(spec, "dnsPolicy", "ClusterFirst");
  fill(spec, "securityContext", json::object());
  fill(spec, "schedulerName", "default-scheduler");
  if (!template_) fill(spec, "enableServiceLinks", true);
  if (spec.contains("serviceAccountName"))
    fill(spec, "serviceAccount", json(spec["serviceAccountName"]));
}

void default_template(json& spec) {
  json& template_ = part(spec, "template");
  part(template_, "metadata");
  default_pod_spec(part(template_, "spec"), true);
}

// Times that Go's types always write, even if empty.
void default_conditions(json& status, std::initializer_list<const char*> fields,
                        const json& value) {
  const auto conditions = status.find("conditions");
  if (conditions == status.end() || !conditions->is_array()) return;
  for (json& condition : *conditions)
    if (condition.is_object())
      for (const char* field : fields) fill(condition, field, value);
}

void default_node(json& node) {
  part(node, "spec");
  json& status = part(node, "status");
  default_conditions(status, {"lastHeartbeatTime", "lastTransitionTime"}, nullptr);
  if (status.contains("capacity")) fill(status, "allocatable", json(status["capacity"]));
  fill(part(part(status, "daemonEndpoints"), "kubeletEndpoint"), "Port", 0);
  json& info = part(status, "nodeInfo");
  for (const char* name :
       {"machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "containerRuntimeVersion",
        "kubeletVersion", "kubeProxyVersion", "operatingSystem", "architecture"})
    fill(info, name, "");
}

void default_job(json& spec) {
  default_template(spec);
  if (!spec.contains("completions") && !spec.contains("parallelism")) spec["completions"] = 1;
  fill(spec, "parallelism", 1);
  fill(spec, "backoffLimit", 6);
  fill(spec, "completionMode", "NonIndexed");
  fill(spec, "suspend", false);
  fill(spec, "manualSelector", false);
  fill(spec, "podReplacementPolicy",
       spec.contains("podFailurePolicy") ? "Failed" : "TerminatingOrFailed");
}

void default_daemon_set(json& object) {
  fill(part(object["metadata"], "annotations"), "deprecated.daemonset.template.generation", "1");
  json& spec = part(object, "spec");
  default_template(spec);
  json& strategy = part(spec, "updateStrategy");
  fill(strategy, "type", "RollingUpdate");
  if (strategy["type"] == "RollingUpdate") {
    fill(part(strategy, "rollingUpdate"), "maxUnavailable", 1);
    fill(strategy["rollingUpdate"], "maxSurge", 0);
  }
  fill(spec, "revisionHistoryLimit", 10);
  json& status = part(object, "status");
  for (const char* name :
       {"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady"})
    fill(status, name, 0);
}

// As the CRD says: removes unknown fields and adds defaults.
void default_by_schema(const Field& field, json& value) {
  if (field.type == FieldType::kObject && value.is_object()) {
    for (auto member = value.begin(); member != value.end();) {
      const Field* known = field.find(member.key());
      const bool defaulted = known != nullptr && !known->default_json.empty();
      if (known == nullptr || (member->is_null() && defaulted))
        member = value.erase(member);
      else
        ++member;
    }
    for (const Field& child : field.children) {
      if (!value.contains(child.name) && !child.default_json.empty())
        value[child.name] = json::parse(child.default_json);
      if (const auto found = value.find(child.name); found != value.end())
        default_by_schema(child, *found);
    }
  } else if (field.type == FieldType::kList && value.is_array() && !field.children.empty()) {
    for (json& item : value) default_by_schema(field.children[0], item);
  }
}

}  // namespace

void set_defaults(const ResourceType& type, json& object) {
  part(object, "metadata");
  if (is_custom(type)) {
    drop_nothings(object["metadata"]);
    for (auto member = object.begin(); member != object.end();)
      member = among(kTopLevel, member.key()) ? std::next(member) : object.erase(member);
    if (object.contains("spec")) default_by_schema(custom_spec_field(type), object["spec"]);
    return;
  }
  drop_nothings(object);
  if (type.kind == "Node") {
    default_node(object);
  } else if (type.kind == "Pod") {
    default_pod_spec(part(object, "spec"), false);
    default_conditions(part(object, "status"), {"lastProbeTime", "lastTransitionTime"}, nullptr);
  } else if (type.kind == "Namespace") {
    part(object, "spec");
    fill(part(object, "status"), "phase", "Active");
    const std::string name = text_at(object, {"metadata", "name"});
    if (!name.empty())
      fill(part(object["metadata"], "labels"), "kubernetes.io/metadata.name", name);
  } else if (type.kind == "Job") {
    default_job(part(object, "spec"));
    for (const char* count : {"active", "succeeded", "failed"})
      if (part(object, "status").value(count, json()) == 0) object["status"].erase(count);
  } else if (type.kind == "DaemonSet") {
    default_daemon_set(object);
  } else if (type.kind == "ReplicaSet") {
    default_template(part(object, "spec"));
    fill(object["spec"], "replicas", 1);
    fill(part(object, "status"), "replicas", 0);
  } else if (type.kind == "PodDisruptionBudget") {
    part(object, "spec");
    default_conditions(part(object, "status"), {"lastTransitionTime"}, nullptr);
    default_conditions(object["status"], {"reason", "message"}, "");
    for (const char* name :
         {"disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"})
      fill(part(object, "status"), name, 0);
  } else if (type.kind == "PriorityClass") {
    fill(object, "value", 0);
    fill(object, "preemptionPolicy", "PreemptLowerPriority");
    if (is_zero(object.value("globalDefault", json()))) object.erase("globalDefault");
    if (is_zero(object.value("description", json()))) object.erase("description");
  } else if (type.kind == "Lease") {
    part(object, "spec");
  } else if (type.kind == "ResourceQuota") {
    part(object, "spec");
    part(object, "status");
  } else if (type.kind == "Secret") {
    fill(object, "type", "Opaque");
  } else if (configures_webhooks(type)) {
    default_webhooks(type, object);
  } else if (type.kind == "Event") {
    part(object, "deprecatedSource");
    fill(object, "deprecatedFirstTimestamp", nullptr);
    fill(object, "deprecatedLastTimestamp", nullptr);
  }
}

}  // namespace berth::sim
