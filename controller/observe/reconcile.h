// SPDX-License-Identifier: Apache-2.0
// What berth does about what GPUs were measured to do: a pure function from a snapshot to a plan. A
// plan that has been applied and is planned again is empty.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

inline constexpr std::string_view kIdleKey = "idle";

// What a pod's GPUs cost in a month, "2234 USD"; empty where nobody says.
using PodPrice = std::function<std::string(const Pod&)>;

// "idle": with policy Notify and beyond, an annotation and an event on each pod whose GPUs are
// idle, one event on what owns such pods, and the annotation's removal once they are not; where
// they may be taken back, from when on.
// Who takes them is queue/recall/reconcile.h.
Plan reconcile_idle(const Snapshot& snapshot, const PodPrice& price = nullptr);

}  // namespace berth
