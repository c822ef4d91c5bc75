// SPDX-License-Identifier: Apache-2.0
// The policy's part of a plan, for people.
#pragma once

#include <cstddef>
#include <string>

#include "controller/preview/projection.h"

namespace berth {

std::string print_text(const PolicySummary& policy);
// How many nodes get other labels or taints.
std::size_t nodes_edited(const PolicySummary& policy);

}  // namespace berth
