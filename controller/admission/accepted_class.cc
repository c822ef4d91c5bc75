// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/accepted_class.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "apis/base/names.h"
#include "controller/core/plural.h"
#include "controller/fleet/pools.h"
#include "controller/queue/index/accepted_classes.h"

namespace berth {
namespace {

constexpr std::size_t kAcceptedNamed = 6;

bool is_everybodys(std::string_view name, const ClusterState& cluster) {
  const PriorityClass* of = cluster.priority_classes().find(name);
  return of != nullptr && of->global_default;
}

}  // namespace

void check_accepted_class(const PodSlice& workload, const GPUQueue& queue,
                          const ClusterState& cluster, ReviewFindings& findings) {
  const GPUClusterPolicy* policy = find_policy(cluster);
  const bool only_warns =
      policy != nullptr && policy->spec.admission.enforcement != Enforcement::kEnforce;
  const auto check = [&](std::string field, std::string_view name) {
    if (name.empty() || is_everybodys(name, cluster) || queue::accepts_class(queue, policy, name))
      return;
    const std::vector<std::string> names = queue::accepted_classes(queue, policy);
    std::string message = fmt::format(
        "queue {} does not accept PriorityClass {}; {}, or add it to spec.priorityClasses of the "
        "queue",
        queue.meta.name, shorten(name),
        names.empty() ? "it accepts none, so leave it out"
                      : "write " + list_first(names, kAcceptedNamed));
    if (only_warns)
      findings.warn(std::move(field), std::move(message));
    else
      findings.refuse(std::move(field), std::move(message));
  };
  check(fmt::format("metadata.labels[{}]", names::kPriorityClassLabel),
        workload.queued.priority_class);
  check(workload.field("priorityClassName"), workload.priority_class_name);
}

}  // namespace berth
