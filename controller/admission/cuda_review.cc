// SPDX-License-Identifier: Apache-2.0
// Whether any node that offers the pod's GPUs has a driver that is new enough for its containers.
// Only a warning: labels are updated late after a driver upgrade, and a pod may wait for one.
#include <fmt/format.h>

#include <optional>
#include <string>

#include "apis/base/names.h"
#include "controller/admission/pod_review.h"
#include "controller/fleet/cuda.h"

namespace berth {
namespace {

// The newest driver among the nodes that have the resource and where the pod may land. nullopt: a
// node has the required driver, no node qualifies, or an autoscaler may still add one.
std::optional<NodeCuda> newest_short_of(const PodReview& review, std::string_view requirement) {
  if (review.placement.demands.empty()) return std::nullopt;
  const GpuOffer* offer = review.offers.find(review.placement.demands.front().resource);
  std::optional<NodeCuda> newest;
  if (offer == nullptr || reaches_nodes_to_come(review.pools, review.policy, *offer))
    return std::nullopt;
  for (const NodeClass* nodes : offer->classes) {
    if (!reaches(review.pools, review.policy, *nodes) || nodes->nodes.empty()) continue;
    // Nodes of a class have equal driver labels.
    const NodeCuda has = cuda_of(*nodes->nodes.front());
    if (!contradicts(requirement, has)) return std::nullopt;
    if (!newest || newest->cuda < has.cuda) newest = has;
  }
  return newest;
}

void check_requirement(const PodReview& review, const std::string& field,
                       std::string_view requirement, ReviewFindings& findings) {
  if (requirement.empty()) return;
  if (const std::optional<NodeCuda> newest = newest_short_of(review, requirement))
    findings.warn(field, fmt::format("needs {}, and no node for it has more than {}: it would not "
                                     "start; use an image for that, or a newer driver",
                                     shorten(requirement), told(*newest)));
}

}  // namespace

void check_cuda(const PodReview& review, ReviewFindings& findings) {
  for (const ContainerSlice& container : review.pod.containers)
    check_requirement(review, review.pod.field(container) + ".env", container.require_cuda,
                      findings);
  if (review.pod.required_cuda.empty()) return;
  const std::string field = fmt::format("{}metadata.annotations[{}]",
                                        review.pod.home == PodHome::kJob ? "spec.template." : "",
                                        names::kRequiredCudaAnnotation);
  if (const auto requirement = cuda_at_least(review.pod.required_cuda))
    return check_requirement(review, field, *requirement, findings);
  findings.warn(field, fmt::format("\"{}\" is no version; write one as 12.4",
                                   shorten(review.pod.required_cuda)));
}

}  // namespace berth
