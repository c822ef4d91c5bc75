// SPDX-License-Identifier: Apache-2.0
#include "apis/kinds/pod_requests.h"

#include <algorithm>
#include <chrono>

namespace berth {
namespace {

void raise(ResourceList& to, const ResourceList& floor) {
  for (const auto& [name, quantity] : floor) {
    if (Quantity* value = to.find(name))
      *value = std::max(*value, quantity);
    else
      to.set(name, quantity);
  }
}

}  // namespace

void add(ResourceList& to, const ResourceList& more) {
  for (const auto& [name, quantity] : more) {
    if (Quantity* sum = to.find(name))
      *sum += quantity;
    else
      to.set(name, quantity);
  }
}

ResourceList compute_effective(PodRequests&& parts) {
  ResourceList total = std::move(parts.containers);
  ResourceList sidecars, peak;
  for (InitContainer& init : parts.init) {
    if (init.sidecar) {
      add(total, init.requests);
      add(sidecars, init.requests);
      raise(peak, sidecars);
    } else {
      add(init.requests, sidecars);
      raise(peak, init.requests);
    }
  }
  raise(total, peak);
  // Requests of the whole pod replace the sum. Kubernetes allows only cpu, memory and hugepages
  // there.
  for (const auto& [name, quantity] : parts.pod) total.set(name, quantity);
  add(total, parts.overhead);
  return total;
}

PodShape shape_of(PodSpecParts&& parts) {
  PodShape::Fields& shape = parts.shape;
  shape.requests = compute_effective(std::move(parts.requests));
  const auto mark = [&](bool has, std::uint8_t what) {
    if (has) shape.unmodelled |= what;
  };
  mark(parts.host_ports || parts.init_host_ports, Unmodelled::kHostPorts);
  mark(parts.bound_volumes, Unmodelled::kVolumes);
  mark(parts.pod_affinity, Unmodelled::kPodAffinity);
  mark(parts.topology_spread, Unmodelled::kTopologySpread);
  mark(parts.resource_claims, Unmodelled::kResourceClaims);
  mark(!shape.scheduler_name.empty() && shape.scheduler_name != "default-scheduler",
       Unmodelled::kOtherScheduler);
  return PodShape(std::move(shape));
}

bool binds_to_nodes(std::string_view volume_source) {
  static constexpr std::string_view kSources[] = {"awsElasticBlockStore",
                                                  "azureDisk",
                                                  "cinder",
                                                  "csi",
                                                  "ephemeral",
                                                  "gcePersistentDisk",
                                                  "iscsi",
                                                  "persistentVolumeClaim",
                                                  "portworxVolume",
                                                  "rbd",
                                                  "vsphereVolume"};
  return std::ranges::binary_search(kSources, volume_source);
}

bool has_been_ready(const ReadyCondition& ready, const std::optional<Time>& started) {
  constexpr auto kOneWrite = std::chrono::seconds(1);  // both times have whole seconds
  return ready.is_true || (ready.changed && started && *ready.changed > *started + kOneWrite);
}

PodPhase phase_of(std::string_view text) {
  if (text == "Running") return PodPhase::kRunning;
  if (text == "Pending" || text.empty()) return PodPhase::kPending;
  if (text == "Succeeded") return PodPhase::kSucceeded;
  if (text == "Failed") return PodPhase::kFailed;
  return PodPhase::kUnknown;
}

}  // namespace berth
