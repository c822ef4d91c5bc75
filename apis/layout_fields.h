// SPDX-License-Identifier: Apache-2.0
// What a MIGLayout's spec may hold; tests keep crds/gpu.berth.dev_miglayouts.yaml equal to it.
#pragma once

#include "apis/fields.h"

namespace berth {

// The field `spec`.
const Field& layout_spec_field();

}  // namespace berth
