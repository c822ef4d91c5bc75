// SPDX-License-Identifier: Apache-2.0
// LayoutFields: the fields of a MIGLayout's spec; tests compare crds/gpu.berth.dev_miglayouts.yaml
// with them.
#pragma once

#include "apis/kinds/fields.h"

namespace berth {

// The field `spec`.
const Field& layout_spec_field();

}  // namespace berth
