// SPDX-License-Identifier: Apache-2.0
// ImportVerdict: what `berth validate` would say of an object that was made.
#pragma once

#include <string>
#include <string_view>

namespace berth {

// The first fault, with its field; empty: the object is valid, and a layout fits on what it names.
std::string first_fault(std::string_view json);

}  // namespace berth
