// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/index/accepted_classes.h"

#include <algorithm>

namespace berth::queue {

std::vector<std::string> accepted_classes(const GPUQueue& queue, const GPUClusterPolicy* policy) {
  std::vector<std::string> names;
  if (queue.spec.priority_classes) names = *queue.spec.priority_classes;
  if (policy == nullptr) return names;
  if (!queue.spec.priority_classes)
    for (const PriorityClassSpec& made : policy->spec.priority_classes) names.push_back(made.name);
  const std::string& given = policy->spec.admission.defaults.priority_class_name;
  if (!given.empty() && std::ranges::find(names, given) == names.end()) names.push_back(given);
  return names;
}

bool accepts_class(const GPUQueue& queue, const GPUClusterPolicy* policy, std::string_view name) {
  const std::vector<std::string> names = accepted_classes(queue, policy);
  return std::ranges::find(names, name) != names.end();
}

}  // namespace berth::queue
