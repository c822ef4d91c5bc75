// SPDX-License-Identifier: Apache-2.0
// AcceptedClasses: which PriorityClasses work of a queue may name. A tenant chooses the label
// gpu.berth.dev/priority-class freely, and Kubernetes bounds it by no ResourceQuota.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apis/gpu_cluster_policy.h"
#include "apis/gpu_queue.h"

namespace berth::queue {

// The queue's own list, or without one those that the policy makes; and the policy's default class.
// The cluster's default class, which pods have without asking, is not looked at here.
std::vector<std::string> accepted_classes(const GPUQueue& queue, const GPUClusterPolicy* policy);
bool accepts_class(const GPUQueue& queue, const GPUClusterPolicy* policy, std::string_view name);

}  // namespace berth::queue
