// SPDX-License-Identifier: Apache-2.0
// PodSelects: where a pod may run by its own rules for nodes. It does not check free capacity.
#pragma once

#include "apis/kinds/core.h"

namespace berth {

// Checks its nodeSelector and its required node affinity.
bool selects(const Pod& pod, const Node& node);
// Whether no taint of the node keeps the pod away.
bool tolerates_taints(const Pod& pod, const Node& node);
// Whether a cordon does not keep the pod away: the scheduler would bind it to the node anyway.
bool tolerates_cordon(const Pod& pod);

}  // namespace berth
