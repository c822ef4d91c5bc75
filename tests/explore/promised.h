// SPDX-License-Identifier: Apache-2.0
// What a layout makes of so many GPUs, resource by resource, under strategy mixed. Without anything
// of berth's.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "apis/kinds/mig_layout.h"

namespace berth::explore {

std::map<std::string, std::int64_t> promised(const MIGLayoutSpec& spec, std::int64_t gpus);

}  // namespace berth::explore
