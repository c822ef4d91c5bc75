// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/uncovered.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "controller/core/plural.h"
#include "controller/queue/capped.h"
#include "controller/queue/record_cover.h"
#include "controller/queue/words.h"

namespace berth::queue {
namespace {

using ResourceSums = std::map<std::string, std::int64_t>;  // by resource

void add_to(std::string_view resource, std::int64_t amount, ResourceSums& sums) {
  std::int64_t& sum = sums[std::string(resource)];
  sum = capped_sum(sum, amount);
}

void add_asked(const Pod& pod, const Catalog& catalog, ResourceSums& sums) {
  for (const auto& [resource, amount] : catalog.shape_requests(pod.shape))
    if (catalog.is_extended(resource)) add_to(catalog.resource_name(resource), amount, sums);
}

// "4 nvidia.com/gpu and 1 nvidia.com/hostdev"
std::string text_of(const ResourceSums& sums) {
  std::string text;
  for (const auto& [resource, amount] : sums) {
    if (amount == 0) continue;
    const bool of_class = resource == kGpuClass;
    text += fmt::format("{}{} {}", text.empty() ? "" : " and ",
                        of_class ? format_amount(amount, Catalog::kClass) : std::to_string(amount),
                        of_class ? "GPUs" : resource);
  }
  return text.empty() ? "no GPU" : text;
}

// "4 pods with 4 nvidia.com/gpu; 3 pods with 3 nvidia.com/gpu are released"
std::string describe_cover(const Workload& workload, const AdmissionFact& admission,
                           const Catalog& catalog) {
  ResourceSums covered, released;
  for (const SeatShape& shape : shapes_of(admission))
    for (const auto& [resource, amount] : shape.asks) add_to(resource, amount, covered);
  std::int64_t pods = 0;
  for (const Pod* pod : workload.pods->all) {
    if (pod->state == PodState::kWaiting) continue;
    ++pods;
    add_asked(*pod, catalog, released);
  }
  return fmt::format("{} with {}, and {} with {} {} released", plural(admission.pods, "pod"),
                     text_of(covered), plural(pods, "pod"), text_of(released),
                     word_for(pods, "is", "are"));
}

}  // namespace

std::vector<UncoveredMember> uncovered_members(const Workload& workload, const FactsIndex& index) {
  std::vector<UncoveredMember> out;
  const AdmissionFact* admission = admission_of(workload);
  if (!workload.standing.uncovered || admission == nullptr) return out;
  const Catalog& catalog = index.catalog();
  const std::vector<const Pod*> covered = covered_members(workload, catalog, index.room());
  for (const Pod* pod : workload.pods->all) {
    if (pod->state != PodState::kWaiting || std::ranges::find(covered, pod) != covered.end())
      continue;
    ResourceSums asks;
    add_asked(*pod, catalog, asks);
    out.push_back({pod, fmt::format("asks for {}, and its gang was admitted with {}; ask for what "
                                    "is left, or delete all pods of the gang, and it queues again",
                                    text_of(asks), describe_cover(workload, *admission, catalog))});
  }
  return out;
}

}  // namespace berth::queue
