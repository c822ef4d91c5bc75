// SPDX-License-Identifier: Apache-2.0
// DroppedConfig: a config that is about to vanish from the file of one of NVIDIA's agents. A node
// that the cache does not show, or shows as it was, may name it: its agent would fail at its next
// start, and nobody has the content any more. Dropping is rare, and may wait for a look.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "controller/core/plan.h"

namespace berth {

// What a node names, by its labels and annotations.
using NamedByNode = std::function<std::set<std::string>(const Node& node)>;

// That no node of a live list names any of them; for the step before the one that drops them.
Guard nobody_names(const ObjectRef& file, std::set<std::string> dropped, NamedByNode named_by);

}  // namespace berth
