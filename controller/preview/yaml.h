// SPDX-License-Identifier: Apache-2.0
// Yaml: a projection as YAML: the same document as json.h.
#pragma once

#include <string>
#include <string_view>

#include "controller/preview/projection.h"

namespace berth {

std::string print_yaml(const Projection& projection);

// A JSON object as block YAML that parses to the same JSON. It omits quotes only if no reader can
// misread the string. `json` must be valid.
std::string json_to_yaml(std::string_view json);

}  // namespace berth
