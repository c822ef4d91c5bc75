// SPDX-License-Identifier: Apache-2.0
// Words: how counts and lists of names are told to people.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "apis/core.h"
#include "controller/core/plural.h"

namespace berth {

// "n1, n2, n3, … n9 (9 nodes)"; up to six are named one by one.
std::string name_some(const std::vector<std::string>& names, std::string_view noun = "node");

// "nvidia.com/gpu: 2, memory: 16Gi"; zero counts are left out.
std::string format(const ResourceList& resources);
// As kubectl writes it: "nvidia.com/gpu=present:NoSchedule".
std::string format(const Taint& taint);

}  // namespace berth
