// SPDX-License-Identifier: Apache-2.0
// Pods and nodes that together have every field that berth reads.
#pragma once

#include <string>
#include <vector>

#include "apis/kinds/core.h"
#include "tests/support/kube.h"

namespace berth::truth {

void create_rich_objects(test::Kube& kube);

// The paths of fields that berth reads and none of these objects has.
std::vector<std::string> fields_missing(const std::vector<Pod>& pods,
                                        const std::vector<Node>& nodes);

}  // namespace berth::truth
