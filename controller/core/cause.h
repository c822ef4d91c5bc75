// SPDX-License-Identifier: Apache-2.0
// Cause: why an object waits, stops or fails, as conditions, details and events report it.
#pragma once

#include <string>

namespace berth {

struct Cause {
  std::string reason;   // UpperCamelCase, from apis/base/reasons.h
  std::string message;  // a sentence that names what would change it
  bool operator==(const Cause&) const = default;
};

}  // namespace berth
