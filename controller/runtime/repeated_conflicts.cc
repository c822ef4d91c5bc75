// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/repeated_conflicts.h"

namespace berth {

bool RepeatedConflicts::note(const std::string& key, const ObjectRef& object,
                             const CachedVersion& cached) {
  Last& last = last_[key];
  if (last.object != object || last.resource_version != cached.resource_version)
    last = {object, cached.resource_version, 0};
  return ++last.times % kUnchanged == 0;
}

}  // namespace berth
