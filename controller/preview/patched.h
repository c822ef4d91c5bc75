// SPDX-License-Identifier: Apache-2.0
// Patched: what the API server would make of a write, for the what-if of `berth plan`. Only the
// writes that reconcilers plan, on the slices that a ClusterState holds. An error is a precondition
// that does not hold, as the server would answer with 409 or 422.
#pragma once

#include <string>
#include <string_view>

#include "apis/core.h"
#include "apis/gpu_cluster_policy.h"
#include "apis/mig_layout.h"
#include "apis/result.h"

namespace berth {

// A JSON patch. A test of an absent key passes with null if its parent is there.
Result<Node> patched(const Node& node, std::string_view json_patch);

// Merge patches. metadata.uid and metadata.resourceVersion in the body are preconditions.
Result<Node> merged(const Node& node, std::string_view merge_patch);
Result<ConfigMap> merged(const ConfigMap& config_map, std::string_view merge_patch);
// Whether it is suspended.
Result<Job> merged(const Job& job, std::string_view merge_patch);
// Of one of our own objects: its finalizers.
Result<MIGLayout> merged(const MIGLayout& layout, std::string_view merge_patch);
Result<GPUClusterPolicy> merged(const GPUClusterPolicy& policy, std::string_view merge_patch);

}  // namespace berth
