// SPDX-License-Identifier: Apache-2.0
// Kinds: finds a kind by its name in an ObjectRef of a plan.
#pragma once

#include <string>
#include <string_view>

#include "apis/kinds/watched_kinds.h"
#include "controller/core/bug.h"

namespace berth {

// It is a bug if a plan names any other kind.
inline const KindInfo& kind_named(std::string_view kind) {
  const KindInfo* found = kind == kKind<Lease>.kind ? &kKind<Lease> : nullptr;
  Watched::each([&]<class T>() {
    if (kind == kKind<T>.kind) found = &kKind<T>;
  });
  if (found != nullptr) return *found;
  bug("a plan names a kind that berth does not write: " + std::string(kind));
}

}  // namespace berth
