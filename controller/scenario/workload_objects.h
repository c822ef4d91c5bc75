// SPDX-License-Identifier: Apache-2.0
// WorkloadObjects: the Kubernetes objects that a scenario's workload stands for.
#pragma once

#include <string>
#include <vector>

#include "controller/scenario/scenario.h"

namespace berth {

// As JSON, in the order to create them in: the budget last.
std::vector<std::string> workload_objects(const ScenarioWorkload& workload);

}  // namespace berth
