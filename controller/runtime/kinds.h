// SPDX-License-Identifier: Apache-2.0
// Kinds: the kinds that plans name, found by the name they carry in an ObjectRef.
#pragma once

#include <string>
#include <string_view>

#include "apis/core.h"
#include "apis/gpu_cluster_policy.h"
#include "apis/mig_layout.h"
#include "controller/core/bug.h"

namespace berth {

// Of a kind that plans may name: any other is a bug.
inline const KindInfo& kind_named(std::string_view kind) {
  for (const KindInfo* info :
       {&kKind<Node>, &kKind<Pod>, &kKind<ConfigMap>, &kKind<MIGLayout>, &kKind<Job>,
        &kKind<PodDisruptionBudget>, &kKind<DaemonSet>, &kKind<ClusterPolicy>, &kKind<Lease>,
        &kKind<GPUClusterPolicy>, &kKind<PriorityClass>})
    if (info->kind == kind) return *info;
  bug("a plan names a kind that berth does not write: " + std::string(kind));
}

}  // namespace berth
