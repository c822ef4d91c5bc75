// SPDX-License-Identifier: Apache-2.0
// PoolChoice: where a pod may land as written, and where it should land. The inputs are its
// resource requests, its node selector and affinity, the namespaces each pool is open to, and the
// resources that the pools' sharing can serve.
#pragma once

#include <string_view>
#include <vector>

#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/admission/gpu_offers.h"
#include "controller/admission/pod_slice.h"

namespace berth {

// One GPU resource that a pod needs at least one of.
struct GpuDemand {
  std::string_view resource;
  Quantity most;  // the highest request of one of its containers
};

// A pod's constraints on its node, read from a PodSlice or from a Pod.
struct Placement {
  std::vector<GpuDemand> demands;  // by name
  std::string_view node_name;
  const StringMap* node_selector = nullptr;
  std::vector<const NodeSelectorTerm*> terms;  // any one must match; empty: no constraint
                                               // constraint
};
Placement placement_of(const PodSlice& pod);
Placement placement_of(const Pod& pod);

struct PoolChoice {
  // The pod as written may land there, also on nodes that an autoscaler may still add.
  std::vector<const PoolSpec*> exposed;
  bool outside_pools = false;  // it may also land on a node outside every pool
  // False: matching the pod's constraints against all nodes would cost too much for one pod. berth
  // then assumes that the pod matches every node of each pool whose label it admits, and restricts
  // it to the open pools among them.
  bool judged = true;
  // The exposed pools that its namespace may use and that can serve the pod. berth restricts the
  // pod to these.
  std::vector<const PoolSpec*> targets;
};
PoolChoice choose_pools(const Placement& placement, const GPUClusterPolicy& policy,
                        const GpuOffers& offers, const StringMap& namespace_labels);

// Whether the pod may land on nodes of the class, judged by their pool.
bool reaches(const PoolChoice& choice, const GPUClusterPolicy& policy, const NodeClass& nodes);
// Whether it may land on nodes that an autoscaler may still add and whose labels are unknown.
bool reaches_nodes_to_come(const PoolChoice& choice, const GPUClusterPolicy& policy,
                           const GpuOffer& offer);

// Whether a pool with this eligibility is open to the namespace.
bool open_to(const std::optional<LabelSelector>& eligible, const StringMap& namespace_labels);
// The catalog entry that closes the resource to the namespace. nullptr: another entry opens it, or
// the catalog has no entry for it.
const CatalogEntry* closing_entry(const GPUClusterPolicy& policy, std::string_view resource,
                                  const StringMap& namespace_labels);
// Whether the namespace may have the resource on the pool's nodes exclusively. A null pool means
// the nodes outside every pool.
bool may_have_alone(const GPUClusterPolicy& policy, const PoolSpec* pool, std::string_view resource,
                    const StringMap& namespace_labels);

// Whether the term (with nullptr, the node selector alone) restricts the pod to the targets.
bool holds_to(const PoolChoice& choice, const Placement& placement, const NodeSelectorTerm* term);

// The taints of the targets that the pod does not tolerate, each once.
std::vector<Taint> untolerated(const PoolChoice& choice, const std::vector<Toleration>& has);

}  // namespace berth
