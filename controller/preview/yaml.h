// SPDX-License-Identifier: Apache-2.0
// A projection as YAML: the document of json.h, field by field.
#pragma once

#include <string>
#include <string_view>

#include "controller/preview/projection.h"

namespace berth {

std::string print_yaml(const Projection& projection);

// Any JSON object as block YAML that reads back as the same JSON: a string stands bare only where
// no reader could take it for anything else. `json` must be valid.
std::string json_to_yaml(std::string_view json);

}  // namespace berth
