// SPDX-License-Identifier: Apache-2.0
// PolicyFields: the fields of a GPUClusterPolicy's spec; tests compare
// crds/gpu.berth.dev_gpuclusterpolicies.yaml with them.
#pragma once

#include "apis/kinds/fields.h"

namespace berth {

// The field `spec`.
const Field& policy_spec_field();

}  // namespace berth
