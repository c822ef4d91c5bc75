// SPDX-License-Identifier: Apache-2.0
// The kinds of which a cluster has few, or which change rarely.
#include "apis/decode_frame.h"

namespace berth {
namespace {

// A podFailurePolicy rule that ignores the condition an eviction sets on the pod.
bool ignores_disruptions(const JsonCursor& rule) {
  std::string action;
  rule["action"].read(action);
  bool listed = false;
  for (const JsonCursor& pattern : rule["onPodConditions"].items()) {
    std::string type, status = "True";
    pattern["type"].read(type);
    pattern["status"].read(status);
    listed = listed || (type == "DisruptionTarget" && status == "True");
  }
  return action == "Ignore" && listed;
}

// Rules are tried in order and the first match decides: only what stands before an Ignore for
// disruptions can overrule it. A rule on exit codes may (the container's exit code is unknown
// here), one on another condition may not.
bool read_ignores_disruptions(const JsonCursor& policy) {
  for (const JsonCursor& rule : policy["rules"].items()) {
    if (ignores_disruptions(rule)) return true;
    if (rule["onExitCodes"].present()) {
      std::string action;
      rule["action"].read(action);
      if (action == "FailJob") return false;
    }
  }
  return false;
}

}  // namespace

void read(JsonCursor object, PodDisruptionBudget& out) {
  object["metadata"].read(out.meta);
  object["spec"]["selector"].read(out.selector);
  JsonCursor status = object["status"];
  status["disruptionsAllowed"].read(out.disruptions_allowed);
  status["currentHealthy"].read(out.current_healthy);
  status["desiredHealthy"].read(out.desired_healthy);
  status["expectedPods"].read(out.expected_pods);
  status["observedGeneration"].read(out.observed_generation);
}

void read(JsonCursor object, Job& out) {
  object["metadata"].read(out.meta);
  JsonCursor spec = object["spec"];
  spec["suspend"].read(out.suspended);
  spec["backoffLimit"].read(out.backoff_limit);
  spec["parallelism"].read(out.parallelism);
  out.ignores_disruptions = read_ignores_disruptions(spec["podFailurePolicy"]);
  object["status"]["failed"].read(out.failed);
}

void read(JsonCursor object, ConfigMap& out) {
  object["metadata"].read(out.meta);
  object["data"].read(out.data);
}

void read(JsonCursor object, DaemonSet& out) {
  object["metadata"].read(out.meta);
  JsonCursor pod = object["spec"]["template"]["spec"];
  for (const JsonCursor& volume : pod["volumes"].items()) {
    Text name;
    volume["configMap"]["name"].read(name);
    if (!name.empty()) out.config_map_volumes.push_back(std::move(name));
  }
  pod["nodeSelector"].read(out.node_selector);
  pod["tolerations"].read(out.tolerations);
}

void read(JsonCursor object, ClusterPolicy& out) {
  object["metadata"].read(out.meta);
  object["spec"]["mig"]["strategy"].read(out.mig_strategy);
  object["spec"]["migManager"]["config"]["name"].read(out.mig_manager_config_map);
  JsonCursor plugin = object["spec"]["devicePlugin"]["config"];
  plugin["name"].read(out.device_plugin_config_map);
  plugin["default"].read(out.device_plugin_default_config);
  JsonCursor tolerations = object["spec"]["daemonsets"]["tolerations"];
  if (tolerations.present())
    tolerations.read(out.operand_tolerations);
  else
    out.operand_tolerations = {{"nvidia.com/gpu", "Exists", {}, "NoSchedule"}};
}

void read(JsonCursor object, Namespace& out) { object["metadata"].read(out.meta); }

void read(JsonCursor object, PriorityClass& out) {
  object["metadata"].read(out.meta);
  object["value"].read(out.value);
  object["globalDefault"].read(out.global_default);
  object["preemptionPolicy"].read(out.preemption_policy);
}

}  // namespace berth
