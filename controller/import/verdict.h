// SPDX-License-Identifier: Apache-2.0
// ImportVerdict: validates an imported object as `berth validate` does.
#pragma once

#include <string>
#include <string_view>

namespace berth {

// The first fault, with its field. Empty: the object is valid, and a layout fits on its products.
std::string first_fault(std::string_view json);

}  // namespace berth
