// SPDX-License-Identifier: Apache-2.0
// Words: counts and lists of names, as text for users.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "apis/kinds/core.h"
#include "controller/core/plural.h"

namespace berth {

// "n1, n2, n3, … n9 (9 nodes)"; names up to six one by one.
std::string name_some(const std::vector<std::string>& names, std::string_view noun = "node");

// "nvidia.com/gpu: 2, memory: 16Gi"; omits zero counts.
std::string format(const ResourceList& resources);
// In kubectl's form: "nvidia.com/gpu=present:NoSchedule".
std::string format(const Taint& taint);

}  // namespace berth
