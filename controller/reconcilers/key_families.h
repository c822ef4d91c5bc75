// SPDX-License-Identifier: Apache-2.0
// KeyFamilies: everything that is reconciled, in one table. A new family is a row here, and what
// makes its keys due (keys.h).
#pragma once

#include <array>
#include <string_view>

#include "controller/core/key_family.h"

namespace berth {

extern const std::array<KeyFamily, 20> kKeyFamilies;

// A key that no family has is a bug.
const KeyFamily& family_of(std::string_view key);

}  // namespace berth
