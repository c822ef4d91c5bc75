// SPDX-License-Identifier: Apache-2.0
// GPUQueueFields: the fields of a GPUQueue's spec; tests compare crds/gpu.berth.dev_gpuqueues.yaml
// with them.
#pragma once

#include "apis/kinds/fields.h"

namespace berth {

// The field `spec`.
const Field& queue_spec_field();

}  // namespace berth
