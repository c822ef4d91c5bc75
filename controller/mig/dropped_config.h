// SPDX-License-Identifier: Apache-2.0
// DroppedConfig: a check before a config is removed from a file of NVIDIA's node components. A node
// may name the config although the cache shows no such node, because the cache may be behind. The
// node's component would then fail at its next start, and the content would be lost. Removals are
// rare, so they can wait for a live read.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "controller/core/plan.h"

namespace berth {

// Returns the configs that a node names by its labels and annotations.
using NamedByNode = std::function<std::set<std::string>(const Node& node)>;

// Checks that no node of a live list names any of them. Add it before the step that removes them.
Guard nobody_names(const ObjectRef& file, std::set<std::string> dropped, NamedByNode named_by);

}  // namespace berth
