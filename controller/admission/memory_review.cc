// SPDX-License-Identifier: Apache-2.0
// Whether what the pod asks for can hold what it says it loads. A warning: the pod may be wrong
// about itself, and labels may lag behind a node that is being cut anew.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "apis/names.h"
#include "controller/admission/pod_review.h"
#include "controller/advise/memory_on_node.h"

namespace berth {
namespace {

// The most that a container of the pod has for itself on any node where the pod may land.
struct MostHeld {
  std::string_view resource;
  std::int64_t count = 0;
  std::int64_t usable = 0;
};

// Nothing where one of the nodes doesn't tell, or there is none.
std::optional<MostHeld> most_held(const PodReview& review) {
  MostHeld most;
  for (const GpuDemand& demand : review.placement.demands) {
    const GpuOffer* offer = review.offers.find(demand.resource);
    if (offer == nullptr || reaches_nodes_to_come(review.pools, review.policy, *offer))
      return std::nullopt;
    const std::int64_t count = demand.most.rounded_up();
    for (const NodeClass* nodes : offer->classes) {
      if (!reaches(review.pools, review.policy, *nodes) || nodes->nodes.empty()) continue;
      // Nodes of a class are equal in such labels.
      const auto usable = advise::usable_on(*nodes->nodes.front(), demand.resource, count);
      if (!usable) return std::nullopt;
      if (*usable > most.usable) most = {demand.resource, count, *usable};
    }
  }
  if (most.usable == 0) return std::nullopt;
  return most;
}

// Of what the pod's namespace may ask for, the least that holds so much on one node.
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
