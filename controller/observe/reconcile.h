// SPDX-License-Identifier: Apache-2.0
// The idle reconciler: a pure function from a snapshot to a plan. After a plan is applied, the next
// plan is empty.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

inline constexpr std::string_view kIdleKey = "idle";

// Returns the monthly cost of the pod's GPUs, such as "2234 USD"; empty: they have no price.
using PodPrice = std::function<std::string(const Pod&)>;

// "idle": with policy Notify or a stronger one, berth annotates each pod whose GPUs are idle, with
// an event on the pod and one on its owner. It removes the annotation once the GPUs are busy. If
// the policy reclaims GPUs, another annotation says from when on. queue/recall/reconcile.h reclaims
// them.
Plan reconcile_idle(const Snapshot& snapshot, const PodPrice& price = nullptr);

}  // namespace berth
