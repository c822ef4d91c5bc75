// SPDX-License-Identifier: Apache-2.0
// Whether the pod's GPUs have the memory that it says it needs. Only a warning: the pod may be
// wrong, and labels are updated late on a node that berth is repartitioning.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "apis/base/names.h"
#include "controller/admission/pod_review.h"
#include "controller/advise/memory_on_node.h"

namespace berth {
namespace {

// The most GPU memory that a container of the pod can use, on any node where the pod may land.
struct MostHeld {
  std::string_view resource;
  std::int64_t count = 0;
  std::int64_t usable = 0;
};

// nullopt: a node does not report its memory, no node qualifies, or an autoscaler may still add
// one.
std::optional<MostHeld> most_held(const PodReview& review) {
  MostHeld most;
  for (const GpuDemand& demand : review.placement.demands) {
    const GpuOffer* offer = review.offers.find(demand.resource);
    if (offer == nullptr || reaches_nodes_to_come(review.pools, review.policy, *offer))
      return std::nullopt;
    const std::int64_t count = demand.most.rounded_up();
    for (const NodeClass* nodes : offer->classes) {
      if (!reaches(review.pools, review.policy, *nodes) || nodes->nodes.empty()) continue;
      // Nodes of a class have equal memory labels.
      const auto usable = advise::usable_on(*nodes->nodes.front(), demand.resource, count);
      if (!usable) return std::nullopt;
      if (*usable > most.usable) most = {demand.resource, count, *usable};
    }
  }
  if (most.usable == 0) return std::nullopt;
  return most;
}

// The smallest request with that much memory on one node, among those that the namespace may make.
advise::Share least_that_holds(const PodReview& review, std::int64_t bytes) {
  advise::Share least;
  for (const std::string& resource : review.offers.resources())
    for (const NodeClass* nodes : review.offers.find(resource)->classes) {
      const PoolSpec* pool =
          nodes->pool == kNoPool ? nullptr : &review.policy.spec.pools[nodes->pool];
      if (nodes->nodes.empty() ||
          !may_have_alone(review.policy, pool, resource, review.namespace_.meta.labels))
        continue;
      least = advise::smaller(least, advise::fewest_on(*nodes->nodes.front(), resource, bytes));
    }
  return least;
}

}  // namespace

void check_memory(const PodReview& review, ReviewFindings& findings) {
  if (review.pod.required_memory.empty()) return;
  const std::string field = fmt::format("{}metadata.annotations[{}]",
                                        review.pod.home == PodHome::kJob ? "spec.template." : "",
                                        names::kRequiredGpuMemoryAnnotation);
  const auto bytes = advise::required_memory(review.pod.required_memory);
  if (!bytes)
    return findings.warn(field, fmt::format("\"{}\" is no size above 0; write one as 40Gi",
                                            shorten(review.pod.required_memory)));
  const std::optional<MostHeld> most = most_held(review);
  if (!most || most->usable >= *bytes) return;
  findings.warn(field, fmt::format("needs {}, and {} {} has at most {} for it here; {}",
                                   shorten(review.pod.required_memory), most->count, most->resource,
                                   advise::in_gib(most->usable),
                                   advise::ask_instead(least_that_holds(review, *bytes))));
}

}  // namespace berth
