// SPDX-License-Identifier: Apache-2.0
// ResourceType: the kinds that the simulated API server serves, as in discovery.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace berth::sim {

struct ResourceType {
  std::string_view group;  // "" is the core group
  std::string_view version;
  std::string_view plural;
  std::string_view kind;
  bool namespaced;
  bool has_status;      // only the subresource writes the status
  bool has_generation;  // metadata.generation counts changes outside metadata and status

  std::string api_version() const;  // "v1", "policy/v1"
};

// nodes, pods, configmaps, resourcequotas, secrets, namespaces; mutating- and
// validatingwebhookconfigurations, which this server stores but does not obey; events
// (events.k8s.io/v1); daemonsets, replicasets; jobs; poddisruptionbudgets; leases; tfjobs;
// priorityclasses; miglayouts, gpuclusterpolicies, gpuqueues. NVIDIA's clusterpolicies are not
// installed.
std::span<const ResourceType> resource_types();
// By plural, which is unique here; null if the kind is not served.
const ResourceType* find_resource_type(std::string_view plural);
const ResourceType* find_resource_type(std::string_view group, std::string_view version,
                                       std::string_view plural);

}  // namespace berth::sim
