// SPDX-License-Identifier: Apache-2.0
// Kinds: the kinds that plans name, found by the name they carry in an ObjectRef.
#pragma once

#include <string>
#include <string_view>

#include "apis/watched_kinds.h"
#include "controller/core/bug.h"

namespace berth {

// Of a kind that plans may name: any other is a bug.
inline const KindInfo& kind_named(std::string_view kind) {
  const KindInfo* found = kind == kKind<Lease>.kind ? &kKind<Lease> : nullptr;
  Watched::each([&]<class T>() {
    if (kind == kKind<T>.kind) found = &kKind<T>;
  });
  if (found != nullptr) return *found;
  bug("a plan names a kind that berth does not write: " + std::string(kind));
}

}  // namespace berth
