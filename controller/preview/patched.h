// SPDX-License-Identifier: Apache-2.0
// Patched: an object after a write, for the what-if of `berth plan`. It supports only the writes
// that reconcilers plan, on the slices in a ClusterState. An error is a failed precondition, for
// which the API server would answer 409 or 422.
#pragma once

#include <string>
#include <string_view>

#include "apis/base/result.h"
#include "apis/kinds/core.h"
#include "apis/kinds/gpu_cluster_policy.h"
#include "apis/kinds/mig_layout.h"

namespace berth {

// A JSON patch. A test of an absent key passes with null if its parent exists.
Result<Node> patched(const Node& node, std::string_view json_patch);

// Merge patches. metadata.uid and metadata.resourceVersion in the body are preconditions.
Result<Node> merged(const Node& node, std::string_view merge_patch);
Result<ConfigMap> merged(const ConfigMap& config_map, std::string_view merge_patch);
// Only the field that suspends it.
Result<Job> merged(const Job& job, std::string_view merge_patch);
// Only the finalizers of berth's own objects.
Result<MIGLayout> merged(const MIGLayout& layout, std::string_view merge_patch);
Result<GPUClusterPolicy> merged(const GPUClusterPolicy& policy, std::string_view merge_patch);

}  // namespace berth
