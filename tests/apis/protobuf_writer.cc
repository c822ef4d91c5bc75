// SPDX-License-Identifier: Apache-2.0
#define PROTOZERO_USE_VIEW std::string_view
#include "tests/apis/protobuf_writer.h"

#include <nlohmann/json.hpp>
#include <protozero/pbf_writer.hpp>

#include "apis/base/time.h"

namespace berth::test {
namespace {

using nlohmann::json;
using protozero::pbf_writer;

// A field of a message. Its type is string, number, Time, Quantity, a message, or a map from names
// to one of these.
struct Field {
  std::string_view message, name;
  std::uint32_t number;
  std::string_view type;
  bool map = false;
};

constexpr Field kFields[] = {
    {"Pod", "metadata", 1, "ObjectMeta"},
    {"Pod", "spec", 2, "PodSpec"},
    {"Pod", "status", 3, "PodStatus"},
    {"Node", "metadata", 1, "ObjectMeta"},
    {"Node", "spec", 2, "NodeSpec"},
    {"Node", "status", 3, "NodeStatus"},
    {"PodList", "metadata", 1, "ListMeta"},
    {"PodList", "items", 2, "Pod"},
    {"NodeList", "metadata", 1, "ListMeta"},
    {"NodeList", "items", 2, "Node"},
    {"ListMeta", "resourceVersion", 2, "string"},
    {"ListMeta", "continue", 3, "string"},
    {"ObjectMeta", "name", 1, "string"},
    {"ObjectMeta", "generateName", 2, "string"},
    {"ObjectMeta", "namespace", 3, "string"},
    {"ObjectMeta", "uid", 5, "string"},
    {"ObjectMeta", "resourceVersion", 6, "string"},
    {"ObjectMeta", "generation", 7, "number"},
    {"ObjectMeta", "creationTimestamp", 8, "Time"},
    {"ObjectMeta", "deletionTimestamp", 9, "Time"},
    {"ObjectMeta", "deletionGracePeriodSeconds", 10, "number"},
    {"ObjectMeta", "labels", 11, "string", true},
    {"ObjectMeta", "annotations", 12, "string", true},
    {"ObjectMeta", "ownerReferences", 13, "OwnerReference"},
    {"ObjectMeta", "finalizers", 14, "string"},
    {"ObjectMeta", "managedFields", 17, "ManagedFields"},
    {"ManagedFields", "manager", 1, "string"},
    {"OwnerReference", "kind", 1, "string"},
    {"OwnerReference", "name", 3, "string"},
    {"OwnerReference", "uid", 4, "string"},
    {"OwnerReference", "apiVersion", 5, "string"},
    {"OwnerReference", "controller", 6, "number"},
    {"PodSpec", "volumes", 1, "Volume"},
    {"PodSpec", "containers", 2, "Container"},
    {"PodSpec", "restartPolicy", 3, "string"},
    {"PodSpec", "terminationGracePeriodSeconds", 4, "number"},
    {"PodSpec", "nodeSelector", 7, "string", true},
    {"PodSpec", "nodeName", 10, "string"},
    {"PodSpec", "affinity", 18, "Affinity"},
    {"PodSpec", "schedulerName", 19, "string"},
    {"PodSpec", "initContainers", 20, "Container"},
    {"PodSpec", "tolerations", 22, "Toleration"},
    {"PodSpec", "priority", 25, "number"},
    {"PodSpec", "overhead", 32, "Quantity", true},
    {"PodSpec", "topologySpreadConstraints", 33, "TopologySpread"},
    {"PodSpec", "schedulingGates", 38, "Named"},
    {"PodSpec", "resourceClaims", 39, "Named"},
    {"PodSpec", "resources", 40, "Resources"},
    {"Named", "name", 1, "string"},
    {"Volume", "name", 1, "string"},
    {"Volume", "volumeSource", 2, "VolumeSource"},
    {"VolumeSource", "emptyDir", 2, "Named"},
    {"VolumeSource", "gcePersistentDisk", 3, "Named"},
    {"VolumeSource", "awsElasticBlockStore", 4, "Named"},
    {"VolumeSource", "iscsi", 8, "Named"},
    {"VolumeSource", "persistentVolumeClaim", 10, "Named"},
    {"VolumeSource", "rbd", 11, "Named"},
    {"VolumeSource", "cinder", 13, "Named"},
    {"VolumeSource", "configMap", 19, "Named"},
    {"VolumeSource", "vsphereVolume", 20, "Named"},
    {"VolumeSource", "azureDisk", 22, "Named"},
    {"VolumeSource", "portworxVolume", 24, "Named"},
    {"VolumeSource", "csi", 28, "Named"},
    {"VolumeSource", "ephemeral", 29, "Named"},
    {"TopologySpread", "maxSkew", 1, "number"},
    {"TopologySpread", "topologyKey", 2, "string"},
    {"TopologySpread", "whenUnsatisfiable", 3, "string"},
    {"ContainerPort", "hostPort", 2, "number"},
    {"ContainerPort", "containerPort", 3, "number"},
    {"PodAffinity", "requiredDuringSchedulingIgnoredDuringExecution", 1, "PodAffinityTerm"},
    {"PodAffinity", "preferredDuringSchedulingIgnoredDuringExecution", 2, "Named"},
    {"PodAffinityTerm", "topologyKey", 3, "string"},
    {"Container", "name", 1, "string"},
    {"Container", "image", 2, "string"},
    {"Container", "ports", 6, "ContainerPort"},
    {"Container", "resources", 8, "Resources"},
    {"Container", "restartPolicy", 24, "string"},
    {"Resources", "limits", 1, "Quantity", true},
    {"Resources", "requests", 2, "Quantity", true},
    {"Toleration", "key", 1, "string"},
    {"Toleration", "operator", 2, "string"},
    {"Toleration", "value", 3, "string"},
    {"Toleration", "effect", 4, "string"},
    {"Affinity", "nodeAffinity", 1, "NodeAffinity"},
    {"Affinity", "podAffinity", 2, "PodAffinity"},
    {"Affinity", "podAntiAffinity", 3, "PodAffinity"},
    {"NodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", 1, "NodeSelector"},
    {"NodeSelector", "nodeSelectorTerms", 1, "Term"},
    {"Term", "matchExpressions", 1, "Requirement"},
    {"Term", "matchFields", 2, "Requirement"},
    {"Requirement", "key", 1, "string"},
    {"Requirement", "operator", 2, "string"},
    {"Requirement", "values", 3, "string"},
    {"PodStatus", "phase", 1, "string"},
    {"PodStatus", "conditions", 2, "Condition"},
    {"PodStatus", "message", 3, "string"},
    {"PodStatus", "reason", 4, "string"},
    {"PodStatus", "podIP", 6, "string"},
    {"PodStatus", "startTime", 7, "Time"},
    {"PodStatus", "containerStatuses", 8, "ContainerStatus"},
    {"PodStatus", "initContainerStatuses", 10, "ContainerStatus"},
    {"ContainerStatus", "name", 1, "string"},
    {"ContainerStatus", "state", 2, "ContainerState"},
    {"ContainerState", "waiting", 1, "Waiting"},
    {"ContainerState", "terminated", 3, "Terminated"},
    {"Waiting", "reason", 1, "string"},
    {"Waiting", "message", 2, "string"},
    {"Terminated", "exitCode", 1, "number"},
    {"Terminated", "reason", 3, "string"},
    {"Terminated", "message", 4, "string"},
    {"NodeSpec", "podCIDR", 1, "string"},
    {"NodeSpec", "unschedulable", 4, "number"},
    {"NodeSpec", "taints", 5, "Taint"},
    {"Taint", "key", 1, "string"},
    {"Taint", "value", 2, "string"},
    {"Taint", "effect", 3, "string"},
    {"Taint", "timeAdded", 4, "Time"},
    {"NodeStatus", "capacity", 1, "Quantity", true},
    {"NodeStatus", "allocatable", 2, "Quantity", true},
    {"NodeStatus", "conditions", 4, "Condition"},
    {"NodeStatus", "nodeInfo", 7, "SystemInfo"},
    {"Condition", "type", 1, "string"},
    {"Condition", "status", 2, "string"},
    {"Condition", "reason", 5, "string"},
    {"SystemInfo", "machineID", 1, "string"},
    {"SystemInfo", "bootID", 3, "string"},
    {"Status", "status", 2, "string"},
    {"Status", "message", 3, "string"},
    {"Status", "reason", 4, "string"},
    {"Status", "details", 5, "Details"},
    {"Status", "code", 6, "number"},
    {"Details", "causes", 4, "Cause"},
    {"Details", "retryAfterSeconds", 5, "number"},
    {"Cause", "reason", 1, "string"},
    {"Cause", "message", 2, "string"},
    {"Cause", "field", 3, "string"},
};

std::string message_of(std::string_view type, const json& value);

std::string time_of(const std::string& text) {
  std::string message;
  const auto since = parse_time(text).value().time_since_epoch();
  pbf_writer(message).add_int64(1, std::chrono::duration_cast<std::chrono::seconds>(since).count());
  return message;
}

void write_value(pbf_writer& writer, std::uint32_t number, std::string_view type,
                 const json& value) {
  if (value.is_null()) return;
  if (type == "string")
    writer.add_string(number, value.get<std::string>());
  else if (type == "number")
    writer.add_int64(number, value.is_boolean() ? value.get<bool>() : value.get<std::int64_t>());
  else
    writer.add_message(number, message_of(type, value));
}

void write_field(pbf_writer& writer, const Field& field, const json& value) {
  if (field.map) {
    for (const auto& [key, item] : value.items()) {
      std::string entry;
      pbf_writer in_entry(entry);
      in_entry.add_string(1, key);
      write_value(in_entry, 2, field.type, item);
      writer.add_message(field.number, entry);
    }
  } else if (value.is_array()) {
    for (const json& item : value) write_value(writer, field.number, field.type, item);
  } else {
    write_value(writer, field.number, field.type, value);
  }
}

std::string message_of(std::string_view type, const json& value) {
  if (type == "Time") return time_of(value.get<std::string>());
  std::string message;
  pbf_writer writer(message);
  if (type == "Quantity") writer.add_string(1, value.get<std::string>());
  for (const Field& field : kFields) {
    if (field.message != type || !value.is_object()) continue;
    // In JSON, a volume's source is in the volume itself.
    if (field.name == "volumeSource")
      write_field(writer, field, value);
    else if (value.contains(field.name))
      write_field(writer, field, value[std::string(field.name)]);
  }
  return message;
}

std::string in_envelope(std::string_view kind, const std::string& message) {
  std::string type_meta, unknown("k8s\0", 4);
  pbf_writer(type_meta).add_string(1, "v1");
  pbf_writer(type_meta).add_string(2, kind);
  pbf_writer(unknown).add_message(1, type_meta);
  pbf_writer(unknown).add_bytes(2, message);
  return unknown;
}

}  // namespace

std::string protobuf_message(std::string_view kind, const std::string& text) {
  return message_of(kind, json::parse(text));
}

std::string protobuf_body(std::string_view kind, const std::string& text) {
  return in_envelope(kind, protobuf_message(kind, text));
}

std::string protobuf_event(std::string_view type, std::string_view kind, const std::string& text) {
  std::string raw, event;
  pbf_writer(raw).add_bytes(1, protobuf_body(kind, text));
  pbf_writer(event).add_string(1, type);
  pbf_writer(event).add_message(2, raw);
  return event;
}

}  // namespace berth::test
