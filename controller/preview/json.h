// SPDX-License-Identifier: Apache-2.0
// Json: a projection for programs. docs/plan-json.md has the schema; fields are added, never
// changed.
#pragma once

#include <string>

#include "controller/preview/projection.h"

namespace berth {

inline constexpr char kPlanApiVersion[] = "plan.gpu.berth.dev/v1";

std::string print_json(const Projection& projection);

}  // namespace berth
