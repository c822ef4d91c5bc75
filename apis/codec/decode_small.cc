// SPDX-License-Identifier: Apache-2.0
// Reads kinds of which a cluster has few objects, or whose objects rarely change.
#include "apis/codec/decode_frame.h"

namespace berth {
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
