// SPDX-License-Identifier: Apache-2.0
// KubeletWords: explains why a kubelet has refused a pod or can't start it.
#pragma once

#include "apis/kinds/core.h"
#include "controller/explain/explanation.h"

namespace berth {

// For a finished pod: sets the answer if the kubelet has refused it.
void explain_refusal(const Pod& pod, Explanation& out);
// For a pod on its node: why its containers wait.
void note_start(const Pod& pod, Explanation& out);

}  // namespace berth
