// SPDX-License-Identifier: Apache-2.0
// LayoutCheck: what berth can say about a layout without looking at any node.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apis/kinds/mig_layout.h"

namespace berth {

// Returns the number of GPUs of the smallest node that the layout is for: every GPU it names, and
// one for "all the others".
std::int32_t gpus_meant(const std::vector<DeviceLayout>& devices);

// Returns the known models that support the layout on nodes with this many GPUs.
std::vector<std::string> models_that_fit(const std::vector<DeviceLayout>& devices,
                                         std::int32_t gpus);

}  // namespace berth
