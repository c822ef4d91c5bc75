// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/preempting_class.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "apis/base/names.h"
#include "controller/core/plural.h"
#include "controller/fleet/pools.h"

namespace berth {
namespace {

constexpr std::size_t kClassesNamed = 3;

bool preempts(const PriorityClass& of) { return of.value > 0 && of.preemption_policy != "Never"; }

// The API server has set the default class in a pod before a webhook sees it, but not in a
// template.
const PriorityClass* class_of(const PodSlice& workload, const ClusterState& cluster) {
  const auto& classes = cluster.priority_classes();
  if (!workload.priority_class_name.empty()) return classes.find(workload.priority_class_name);
  if (workload.home == PodHome::kPod) return nullptr;
  for (const auto& each : classes)
    if (each->global_default) return &*each;
  return nullptr;
}

// For example "one with preemptionPolicy: Never, as training-batch".
std::string advice_for(const ClusterState& cluster) {
  std::vector<std::string> good;
  for (const auto& each : cluster.priority_classes())
    if (each->preemption_policy == "Never") good.push_back(each->meta.name);
  std::string text = "one with preemptionPolicy: Never";
  if (!good.empty()) text += ", as " + list_first(good, kClassesNamed);
  return text;
}

bool only_warns(const ClusterState& cluster) {
  const GPUClusterPolicy* policy = find_policy(cluster);
  return policy != nullptr && policy->spec.admission.enforcement != Enforcement::kEnforce;
}

}  // namespace

void check_preemption(const PodSlice& workload, const ClusterState& cluster,
                      ReviewFindings& findings) {
  const PriorityClass* of = class_of(workload, cluster);
  if (of == nullptr || !preempts(*of)) return;
  std::string field = workload.field("priorityClassName");
  std::string message = fmt::format(
      "for pods of class {} kube-scheduler deletes others, one by one, and gangs break; write {}, "
      "or order the queue by label {} alone",
      shorten(of->meta.name), advice_for(cluster), names::kPriorityClassLabel);
  if (only_warns(cluster))
    findings.warn(std::move(field), std::move(message));
  else
    findings.refuse(std::move(field), std::move(message));
}

}  // namespace berth
