// SPDX-License-Identifier: Apache-2.0
// KeyFamilies: one table of everything that berth reconciles. A new family needs a row here, and
// code that makes its keys due (keys.h).
#pragma once

#include <array>
#include <string_view>

#include "controller/core/key_family.h"

namespace berth {

extern const std::array<KeyFamily, 20> kKeyFamilies;

// A key without a family is a bug.
const KeyFamily& family_of(std::string_view key);

}  // namespace berth
