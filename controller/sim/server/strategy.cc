// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/strategy.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "controller/sim/server/priority_admission.h"
#include "controller/sim/server/webhook_configurations.h"
#include "controller/sim/server/writes.h"
#include "controller/sim/world/object_fields.h"

namespace berth::sim {

using nlohmann::json;

namespace {

constexpr char kTemplateGeneration[] = "deprecated.daemonset.template.generation";

// Sets the member to its value in `live`, or removes it. Usually it is already equal.
void restore(const json& live, json& next, const char* member) {
  const auto found = live.find(member);
  if (found == live.end())
    next.erase(member);
  else if (json& there = next[member]; there != *found)
    there = *found;
}

// Compares what counts for the generation: everything but metadata and status.
bool same_content(const json& live, const json& next) {
  const auto skipped = [](const std::string& key) { return key == "metadata" || key == "status"; };
  for (const auto& [key, value] : next.items())
    if (!skipped(key) && (!live.contains(key) || live[key] != value)) return false;
  for (const auto& [key, value] : live.items())
    if (!skipped(key) && !next.contains(key)) return false;
  return true;
}

// Guaranteed and Burstable depend only on cpu and memory, which few pods here request.
std::string quality_of_service(const json& spec) {
  bool any = false;
  bool all_limited = true;
  for (const char* list : {"containers", "initContainers"}) {
    const json* containers = find_at(spec, {list});
    if (containers == nullptr || !containers->is_array()) continue;
    for (const json& container : *containers)
      for (const char* resource : {"cpu", "memory"}) {
        const json* limit = find_at(container, {"resources", "limits", resource});
        const json* request = find_at(container, {"resources", "requests", resource});
        any = any || limit != nullptr || request != nullptr;
        if (limit == nullptr || (request != nullptr && *request != *limit)) all_limited = false;
      }
  }
  if (!any) return "BestEffort";
  return all_limited ? "Guaranteed" : "Burstable";
}

void prepare_pod(json& pod) {
  json status = {{"phase", "Pending"}, {"qosClass", quality_of_service(pod["spec"])}};
  const json* gates = find_at(pod, {"spec", "schedulingGates"});
  if (gates != nullptr && gates->is_array() && !gates->empty())
    status["conditions"] = {
        {{"type", "PodScheduled"},
         {"status", "False"},
         {"lastProbeTime", nullptr},
         {"lastTransitionTime", pod["metadata"]["creationTimestamp"]},
         {"reason", "SchedulingGated"},
         {"message", "Scheduling is blocked due to non-empty scheduling gates"}}};
  pod["status"] = std::move(status);
}

// A Job selects its pods by its uid.
void prepare_job(json& job) {
  if (true_at(job, {"spec", "manualSelector"})) return;
  const std::string uid = text_at(job, {"metadata", "uid"});
  const std::string name = text_at(job, {"metadata", "name"});
  const json labels = {{"batch.kubernetes.io/controller-uid", uid},
                       {"batch.kubernetes.io/job-name", name},
                       {"controller-uid", uid},
                       {"job-name", name}};
  job["spec"]["template"]["metadata"]["labels"].update(labels);
  job["spec"]["selector"]["matchLabels"]["batch.kubernetes.io/controller-uid"] = uid;
}

void tolerate(json& spec, const char* key) {
  json& tolerations = spec["tolerations"];
  if (tolerations.is_array())
    for (const json& toleration : tolerations) {
      const std::string tolerated = text_at(toleration, {"key"});
      const std::string effect = text_at(toleration, {"effect"});
      if ((tolerated == key || tolerated.empty()) && (effect == "NoExecute" || effect.empty()))
        return;
    }
  tolerations.push_back(
      {{"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", 300}});
}

void tolerate_lost_nodes(json& spec) {
  tolerate(spec, "node.kubernetes.io/not-ready");
  tolerate(spec, "node.kubernetes.io/unreachable");
}

}  // namespace

void prepare_create(const ResourceType& type, json& object) {
  json& metadata = object["metadata"];
  for (const char* server :
       {"deletionTimestamp", "deletionGracePeriodSeconds", "generation", "selfLink"})
    metadata.erase(server);
  if (type.has_generation || type.kind == "PriorityClass") metadata["generation"] = 1;
  if (type.kind == "Pod") {
    prepare_pod(object);
  } else if (type.kind == "Job") {
    object["status"] = json::object();
    prepare_job(object);
  } else if (type.kind == "ResourceQuota") {
    object["status"] = json::object();
  } else if (type.kind == "Namespace") {
    object["status"] = {{"phase", "Active"}};
    json& finalizers = object["spec"]["finalizers"];
    if (!holds_text(object, {"spec", "finalizers"}, "kubernetes"))
      finalizers.push_back("kubernetes");
  } else if (type.kind == "DaemonSet") {
    object["status"] = {{"currentNumberScheduled", 0},
                        {"numberMisscheduled", 0},
                        {"desiredNumberScheduled", 0},
                        {"numberReady", 0}};
  } else if (type.kind == "ReplicaSet") {
    object["status"] = {{"replicas", 0}};
  } else if (type.kind == "PodDisruptionBudget") {
    object["status"] = {{"disruptionsAllowed", 0},
                        {"currentHealthy", 0},
                        {"desiredHealthy", 0},
                        {"expectedPods", 0}};
  } else if (is_custom(type)) {
    object.erase("status");
  }
}

void admit_create(const Store& store, const StoreKey& key, json& object) {
  const ResourceType& type = *key.type;
  if (type.kind == "Pod") {
    admit_priority(store, key, object);
    tolerate_lost_nodes(object["spec"]);
  } else if (type.kind == "Node") {
    // Until the node lifecycle controller sees the node as Ready.
    const json taint = {{"key", "node.kubernetes.io/not-ready"}, {"effect", "NoSchedule"}};
    json& taints = object["spec"]["taints"];
    if (!taints.is_array() || std::find(taints.begin(), taints.end(), taint) == taints.end())
      taints.push_back(taint);
  } else if (type.kind == "Job" && find_at(object, {"metadata", "labels"}) == nullptr) {
    object["metadata"]["labels"] = object["spec"]["template"]["metadata"]["labels"];
  }
}

void admit_update(const ResourceType& type, const json& live, json& next) {
  if (type.kind != "Pod") return;
  for (const char* given : {"priority", "preemptionPolicy"})
    if (!next["spec"].contains(given) && live["spec"].contains(given))
      next["spec"][given] = live["spec"][given];
  tolerate_lost_nodes(next["spec"]);
}

void prepare_update(const ResourceType& type, const json& live, json& next,
                    const std::string& subresource) {
  const json* generation = find_at(live, {"metadata", "generation"});
  if (generation == nullptr)
    next["metadata"].erase("generation");
  else
    next["metadata"]["generation"] = *generation;
  if (subresource == "status") {
    if (is_custom(type)) {
      json status = next.contains("status") ? std::move(next["status"]) : json();
      json managed = next["metadata"].contains("managedFields")
                         ? std::move(next["metadata"]["managedFields"])
                         : json();
      next = live;
      if (!managed.is_null()) next["metadata"]["managedFields"] = std::move(managed);
      if (status.is_null())
        next.erase("status");
      else
        next["status"] = std::move(status);
      return;
    }
    restore(live, next, "spec");
    if (type.kind == "Pod") restore(live["metadata"], next["metadata"], "ownerReferences");
    return;
  }
  if (type.has_status) restore(live, next, "status");
  if (type.kind == "Namespace") restore(live["spec"], next["spec"], "finalizers");
  if (type.kind == "DaemonSet")
    next["metadata"]["annotations"][kTemplateGeneration] =
        live["metadata"]["annotations"][kTemplateGeneration];
  if (!type.has_generation || same_content(live, next)) return;
  next["metadata"]["generation"] = integer_at(live, {"metadata", "generation"}).value_or(0) + 1;
  if (type.kind == "DaemonSet" && live["spec"]["template"] != next["spec"]["template"])
    next["metadata"]["annotations"][kTemplateGeneration] = next["metadata"]["generation"].dump();
}

bool allows_unconditional_update(const ResourceType& type) {
  return !is_custom(type) && type.kind != "Lease" && type.kind != "PodDisruptionBudget" &&
         !configures_webhooks(type);
}

bool creates_on_update(const ResourceType& type) {
  return type.kind == "Lease" || type.kind == "Event";
}

bool deletes_gracefully(const ResourceType& type) { return type.kind == "Pod"; }

}  // namespace berth::sim
