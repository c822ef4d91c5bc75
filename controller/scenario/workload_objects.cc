// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/workload_objects.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "controller/scenario/cluster_yaml.h"

namespace berth {
namespace {

using Json = nlohmann::json;

Json metadata(const ScenarioWorkload& workload, const std::string& name) {
  return {{"name", name}, {"namespace", workload.namespace_}};
}

Json pod_metadata(const ScenarioWorkload& workload) {
  Json meta = Json::object();
  meta["labels"] = workload.labels;
  meta["labels"]["app"] = workload.name;
  if (!workload.annotations.empty()) meta["annotations"] = workload.annotations;
  return meta;
}

Json pod_spec(const ScenarioWorkload& workload) {
  Json container = {{"name", "main"}, {"image", "registry.example.com/" + workload.name}};
  if (workload.count > 0) {
    const Json devices = {{workload.resource, std::to_string(workload.count)}};
    container["resources"] = {{"requests", devices}, {"limits", devices}};
  }
  Json spec = {{"containers", Json::array({std::move(container)})}};
  if (!workload.node_selector.empty()) spec["nodeSelector"] = workload.node_selector;
  if (workload.tolerates_gpu)
    spec["tolerations"] = Json::array({{{"key", "nvidia.com/gpu"}, {"operator", "Exists"}}});
  if (workload.kind == ScenarioWorkload::Kind::kJob) spec["restartPolicy"] = "Never";
  return spec;
}

Json pod_template(const ScenarioWorkload& workload) {
  return {{"metadata", pod_metadata(workload)}, {"spec", pod_spec(workload)}};
}

Json selector(const ScenarioWorkload& workload) {
  return {{"matchLabels", {{"app", workload.name}}}};
}

Json budget_object(const ScenarioWorkload& workload, const BudgetText& budget) {
  const Json value =
      budget.value.ends_with('%') ? Json(budget.value) : Json(std::stol(budget.value));
  return {{"apiVersion", "policy/v1"},
          {"kind", "PodDisruptionBudget"},
          {"metadata", metadata(workload, workload.name)},
          {"spec", {{"selector", selector(workload)}, {budget.field, value}}}};
}

}  // namespace

std::vector<std::string> workload_objects(const ScenarioWorkload& workload) {
  std::vector<std::string> objects;
  switch (workload.kind) {
    case ScenarioWorkload::Kind::kReplicaSet:
      objects.push_back(Json{{"apiVersion", "apps/v1"},
                             {"kind", "ReplicaSet"},
                             {"metadata", metadata(workload, workload.name)},
                             {"spec",
                              {{"replicas", workload.replicas},
                               {"selector", selector(workload)},
                               {"template", pod_template(workload)}}}}
                            .dump());
      break;
    case ScenarioWorkload::Kind::kJob:
      objects.push_back(Json{{"apiVersion", "batch/v1"},
                             {"kind", "Job"},
                             {"metadata", metadata(workload, workload.name)},
                             {"spec",
                              {{"parallelism", workload.replicas},
                               {"completions", workload.replicas},
                               {"template", pod_template(workload)}}}}
                            .dump());
      break;
    case ScenarioWorkload::Kind::kPod:
      for (int i = 0; i < workload.replicas; ++i) {
        Json pod = pod_template(workload);
        pod["apiVersion"] = "v1";
        pod["kind"] = "Pod";
        pod["metadata"].update(metadata(workload, fmt::format("{}-{}", workload.name, i)));
        objects.push_back(pod.dump());
      }
      break;
  }
  if (const Result<BudgetText> budget = parse_budget(workload.budget); budget)
    objects.push_back(budget_object(workload, *budget).dump());
  return objects;
}

}  // namespace berth
