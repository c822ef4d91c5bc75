// SPDX-License-Identifier: Apache-2.0
// What a GPUClusterPolicy's spec may hold; tests keep crds/gpu.berth.dev_gpuclusterpolicies.yaml
// equal to it.
#pragma once

#include "apis/fields.h"

namespace berth {

// The field `spec`.
const Field& policy_spec_field();

}  // namespace berth
