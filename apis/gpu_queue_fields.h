// SPDX-License-Identifier: Apache-2.0
// What a GPUQueue's spec may hold; tests keep crds/gpu.berth.dev_gpuqueues.yaml equal to it.
#pragma once

#include "apis/fields.h"

namespace berth {

// The field `spec`.
const Field& queue_spec_field();

}  // namespace berth
