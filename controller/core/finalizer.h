// SPDX-License-Identifier: Apache-2.0
// Finalizer: berth's finalizer. Objects have it if berth must undo something before they are
// deleted.
#pragma once

#include <string>

#include "controller/core/plan.h"

namespace berth {

bool has_finalizer(const ObjectMeta& meta);

// Adds or removes berth's finalizer; keeps all others. Precondition: the resourceVersion read.
Write write_finalizer(ObjectRef object, const ObjectMeta& read, bool ours,
                      std::string field_manager, std::string reason);

}  // namespace berth
