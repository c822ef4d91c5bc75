// SPDX-License-Identifier: Apache-2.0
// TextPolicy: a plan's part about the policy, for users.
#pragma once

#include <cstddef>
#include <string>

#include "controller/preview/projection.h"

namespace berth {

std::string print_text(const PolicySummary& policy);
// The number of nodes with changed labels or taints.
std::size_t nodes_edited(const PolicySummary& policy);

}  // namespace berth
