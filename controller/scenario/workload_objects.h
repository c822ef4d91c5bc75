// SPDX-License-Identifier: Apache-2.0
// WorkloadObjects: the Kubernetes objects of a scenario's workload.
#pragma once

#include <string>
#include <vector>

#include "controller/scenario/scenario.h"

namespace berth {

// As JSON, in the order of creation: the budget comes last.
std::vector<std::string> workload_objects(const ScenarioWorkload& workload);

}  // namespace berth
