// SPDX-License-Identifier: Apache-2.0
// What can be told of a layout before any node is looked at.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apis/mig_layout.h"

namespace berth {

// The size of the smallest node that the layout is meant for: each GPU it names, and one for "all
// the others".
std::int32_t gpus_meant(const std::vector<DeviceLayout>& devices);

// The models that can be cut so, of those that berth knows, on nodes of so many GPUs.
std::vector<std::string> models_that_fit(const std::vector<DeviceLayout>& devices,
                                         std::int32_t gpus);

}  // namespace berth
