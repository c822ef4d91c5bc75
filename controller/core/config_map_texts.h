// SPDX-License-Identifier: Apache-2.0
// ConfigMapTexts: the write that gives a ConfigMap the wanted texts. Only one process writes such a
// ConfigMap.
#pragma once

#include <map>
#include <string>

#include "apis/kinds/core.h"
#include "controller/core/plan.h"

namespace berth {

// The difference as a patch, with the resourceVersion that was read as precondition. If `standing`
// is null, the write creates the ConfigMap.
Write write_texts(const ObjectKey& config_map, const char* field_manager, const ConfigMap* standing,
                  const std::map<std::string, std::string>& data, std::string reason);

}  // namespace berth
