// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/pod_review.h"

#include <fmt/format.h>

namespace berth {

PodReview::PodReview(const PodSlice& pod_, const GPUClusterPolicy& policy_, const Namespace& of,
                     const ClusterState& cluster_)
    : pod(pod_),
      policy(policy_),
      namespace_(of),
      cluster(cluster_),
      offers(offers_of(cluster)),
      placement(placement_of(pod)),
      pools(choose_pools(placement, policy, offers, of.meta.labels)) {}

bool wants_shared_memory(const ContainerSlice& container) {
  if (container.list != ContainerList::kMain || container.mounts_shared_memory) return false;
  Quantity devices;  // the users of a .shared GPU are unrelated processes
  for (const GpuAmount& amount : container.gpus)
    if (!is_shared_resource(amount.resource)) devices += amount.asked();
  return devices >= Quantity::whole(2);
}

std::string in_binary(const Quantity& size) {
  std::optional<std::int64_t> bytes = size.as_whole();
  constexpr std::string_view kUnits[] = {"", "Ki", "Mi", "Gi", "Ti"};
  std::size_t unit = 0;
  if (!bytes || *bytes == 0) return size.str();
  for (; *bytes % 1024 == 0 && unit + 1 < std::size(kUnits); ++unit) *bytes /= 1024;
  return fmt::format("{}{}", *bytes, kUnits[unit]);
}

}  // namespace berth
