// SPDX-License-Identifier: Apache-2.0
// Subject: the pod or node that somebody asks about, by any of the names that people type.
#pragma once

#include <string_view>

#include "apis/result.h"
#include "controller/core/cluster_state.h"

namespace berth {

struct Subject {  // one of the two
  const Node* node = nullptr;
  const Pod* pod = nullptr;
};

// "NAMESPACE/NAME", "pod/NAME", "pod/NAMESPACE/NAME", "node/NAME", "job/NAME" and
// "job/NAMESPACE/NAME" for the Job's pod that tells most, or a bare NAME: a node if one is so
// named, else a pod. `namespace_` is where pods are that name none. An error names what is nearest.
Result<Subject> find_subject(const ClusterState& cluster, std::string_view text,
                             std::string_view namespace_);

}  // namespace berth
