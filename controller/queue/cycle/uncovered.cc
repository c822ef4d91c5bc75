// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/cycle/uncovered.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "controller/core/plural.h"
#include "controller/queue/facts/amount.h"
#include "controller/queue/facts/capped.h"
#include "controller/queue/facts/record_cover.h"

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

// "1 pod of no GPU and 3 pods of 8 nvidia.com/gpu"
std::string describe_shapes(const AdmissionFact& admission) {
  if (admission.shapes.empty()) {
    const Amounts total = total_of(admission);
    return fmt::format("{} of {} in all", plural(admission.pods, "pod"),
                       text_of({total.begin(), total.end()}));
  }
  std::string text;
  for (const SeatShape& shape : admission.shapes)
    text += fmt::format("{}{} of {}", text.empty() ? "" : " and ", plural(shape.pods, "pod"),
                        text_of({shape.asks.begin(), shape.asks.end()}));
  return text;
}

}  // namespace

std::vector<UncoveredMember> uncovered_members(const Workload& workload, const FactsIndex& index) {
  std::vector<UncoveredMember> out;
  const AdmissionFact* admission = admission_of(workload);
  if (!workload.standing.uncovered || admission == nullptr) return out;
  const Catalog& catalog = index.catalog();
  const std::vector<const Pod*> covered = covered_members(workload, catalog, index.room());
  const auto released = std::ranges::count_if(
      workload.pods->all, [](const Pod* pod) { return pod->state != PodState::kWaiting; });
  for (const Pod* pod : workload.pods->all) {
    if (pod->state != PodState::kWaiting || std::ranges::find(covered, pod) != covered.end())
      continue;
    ResourceSums asks;
    add_asked(*pod, catalog, asks);
    out.push_back(
        {pod,
         fmt::format("asks for {}, and its gang was admitted with {}, of which {} {} released; "
                     "ask for no more, or delete all pods of the gang, and it queues again",
                     text_of(asks), describe_shapes(*admission), released,
                     word_for(released, "is", "are"))});
  }
  return out;
}

}  // namespace berth::queue
