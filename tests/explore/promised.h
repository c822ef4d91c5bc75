// SPDX-License-Identifier: Apache-2.0
// The resources that a layout creates on so many GPUs, with strategy mixed. Computed without code
// of berth.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "apis/kinds/mig_layout.h"

namespace berth::explore {

std::map<std::string, std::int64_t> promised(const MIGLayoutSpec& spec, std::int64_t gpus);

}  // namespace berth::explore
