// SPDX-License-Identifier: Apache-2.0
// berth's finalizer, on those of its own kinds that have to put something back before they go.
#pragma once

#include <string>

#include "controller/core/plan.h"

namespace berth {

bool has_finalizer(const ObjectMeta& meta);

// Adds it, or takes it away; other people's stay. The version that was read is the precondition.
Write write_finalizer(ObjectRef object, const ObjectMeta& read, bool ours,
                      std::string field_manager, std::string reason);

}  // namespace berth
