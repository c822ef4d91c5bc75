// SPDX-License-Identifier: Apache-2.0
// Kinds: the kinds that plans name, found by the name they carry in an ObjectRef.
#pragma once

#include <string>
#include <string_view>

#include "apis/core.h"
#include "apis/gpu_cluster_policy.h"
#include "apis/mig_layout.h"

namespace berth {

// Null for a kind berth never writes: a plan that names one is a bug of ours.
inline const KindInfo* find_kind(std::string_view kind) {
  for (const KindInfo* info :
       {&kKind<Node>, &kKind<Pod>, &kKind<ConfigMap>, &kKind<MIGLayout>, &kKind<Job>,
        &kKind<PodDisruptionBudget>, &kKind<DaemonSet>, &kKind<ClusterPolicy>, &kKind<Lease>,
        &kKind<GPUClusterPolicy>, &kKind<PriorityClass>})
    if (info->kind == kind) return info;
  return nullptr;
}

}  // namespace berth
