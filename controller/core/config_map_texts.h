// SPDX-License-Identifier: Apache-2.0
// The write of a ConfigMap that one process alone keeps, from the texts that it is to have.
#pragma once

#include <map>
#include <string>

#include "apis/core.h"
#include "controller/core/plan.h"

namespace berth {

// What differs, as a patch of the very version that was read; `standing` is null if there is none,
// and it is created then.
Write write_texts(const ObjectKey& config_map, const char* field_manager, const ConfigMap* standing,
                  const std::map<std::string, std::string>& data, std::string reason);

}  // namespace berth
