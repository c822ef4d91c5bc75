// SPDX-License-Identifier: Apache-2.0
// Xid: what NVIDIA's driver means by the number of an error, as far as it decides what becomes of a
// node (NVIDIA's XID catalog).
#pragma once

#include <cstdint>
#include <string_view>

namespace berth {

enum class XidClass {
  kApplication,  // a program's own fault: NVIDIA's device plugin leaves these alone, too
  kFatal,        // the GPU, or the driver's hold on it, is broken until it is reset or replaced
  kUnknown,      // told, and nothing is done
};

struct Xid {
  XidClass kind = XidClass::kUnknown;
  std::string_view meaning;  // empty: unknown
};
Xid describe_xid(std::int64_t code);

}  // namespace berth
