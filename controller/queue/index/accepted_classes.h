// SPDX-License-Identifier: Apache-2.0
// AcceptedClasses: the PriorityClasses that workloads of a queue may name. Users choose the label
// gpu.berth.dev/priority-class freely, and no ResourceQuota of Kubernetes limits it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apis/kinds/gpu_cluster_policy.h"
#include "apis/kinds/gpu_queue.h"

namespace berth::queue {

// Returns the queue's own list, or the classes that the policy creates if the queue has no list.
// The policy's default class is always in it. accepted_classes() ignores the cluster's default
// class, which a pod gets without naming it.
std::vector<std::string> accepted_classes(const GPUQueue& queue, const GPUClusterPolicy* policy);
bool accepts_class(const GPUQueue& queue, const GPUClusterPolicy* policy, std::string_view name);

}  // namespace berth::queue
