// SPDX-License-Identifier: Apache-2.0
// PoolChoice: where a pod may land as it stands, and where it should. Derived from what it asks
// for, its node selector and affinity, the namespaces each pool is open to, and what sharing can
// serve.
#pragma once

#include <string_view>
#include <vector>

#include "apis/gpu_cluster_policy.h"
#include "controller/admission/gpu_offers.h"
#include "controller/admission/pod_slice.h"

namespace berth {

// One GPU resource that a pod needs at least one of.
struct GpuDemand {
  std::string_view resource;
  Quantity most;  // the most that one of its containers asks for
};

// What a pod says about its node, whatever it was read from.
struct Placement {
  std::vector<GpuDemand> demands;  // by name
  std::string_view node_name;
  const StringMap* node_selector = nullptr;
  std::vector<const NodeSelectorTerm*> terms;  // any of them; none: no constraint
};
Placement placement_of(const PodSlice& pod);
Placement placement_of(const Pod& pod);

struct PoolChoice {
  // The pod may land there as it stands, also on nodes that an autoscaler is yet to add.
  std::vector<const PoolSpec*> exposed;
  bool outside_pools = false;  // and on a node of no pool
  // False: to hold what it says against all nodes is more work than one pod is worth. It is taken
  // to admit every node of the pools whose label it admits, so that it is held to those that are
  // open.
  bool judged = true;
  // Those of them that its namespace may use and that can serve it: what it is held to.
  std::vector<const PoolSpec*> targets;
};
PoolChoice choose_pools(const Placement& placement, const GPUClusterPolicy& policy,
                        const GpuOffers& offers, const StringMap& namespace_labels);

// Whether the pod may land on nodes of the class, by their pool.
bool reaches(const PoolChoice& choice, const GPUClusterPolicy& policy, const NodeClass& nodes);
// Whether it may land on nodes that an autoscaler is yet to add, of which nothing is known.
bool reaches_nodes_to_come(const PoolChoice& choice, const GPUClusterPolicy& policy,
                           const GpuOffer& offer);

// Whether the namespace may use it.
bool open_to(const std::optional<LabelSelector>& eligible, const StringMap& namespace_labels);
// The catalog's entry that closes the resource to the namespace; nullptr: one opens it, or there is
// none for it.
const CatalogEntry* closing_entry(const GPUClusterPolicy& policy, std::string_view resource,
                                  const StringMap& namespace_labels);
// Whether the namespace may have the resource of the pool's nodes (null: of those of no pool), and
// for itself alone.
bool may_have_alone(const GPUClusterPolicy& policy, const PoolSpec* pool, std::string_view resource,
                    const StringMap& namespace_labels);

// Whether the term (or, with nullptr, the node selector alone) keeps the pod to the targets.
bool holds_to(const PoolChoice& choice, const Placement& placement, const NodeSelectorTerm* term);

// The targets' taints that the pod does not tolerate, each once.
std::vector<Taint> untolerated(const PoolChoice& choice, const std::vector<Toleration>& has);

}  // namespace berth
