// SPDX-License-Identifier: Apache-2.0
// Bypass: pods that came past the webhook, which is switched off, was down, or was not asked.
#pragma once

#include "controller/core/cluster_state.h"
#include "controller/core/settings.h"

namespace berth {

// Whether the pod, of a managed namespace, is younger than the policy, bears no mark of the webhook
// and lacks a toleration or an affinity that the webhook would have added. Other repairs can't be
// seen in what is kept of a pod, nor whether it was created on its node. One that was complete as
// its user wrote it has lost nothing.
bool slipped_past(const Pod& pod, const ClusterState& cluster, const Settings& settings);

}  // namespace berth
