// SPDX-License-Identifier: Apache-2.0
// What the kubelet says of a pod that it has refused, or can't start, in words of more use.
#pragma once

#include "apis/core.h"
#include "controller/explain/explanation.h"

namespace berth {

// Of a pod that has ended: the answer, where the kubelet has refused it.
void explain_refusal(const Pod& pod, Explanation& out);
// Of a pod on its node: why its containers wait.
void note_start(const Pod& pod, Explanation& out);

}  // namespace berth
