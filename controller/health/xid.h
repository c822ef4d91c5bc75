// SPDX-License-Identifier: Apache-2.0
// Xid: the meaning of the NVIDIA driver's error numbers, as far as it decides what happens to a
// node (NVIDIA's XID catalog).
#pragma once

#include <cstdint>
#include <string_view>

namespace berth {

enum class XidClass {
  kApplication,  // a program's own error; NVIDIA's device plugin ignores these, too
  kFatal,        // the GPU or its driver is broken until the GPU is reset or replaced
  kUnknown,      // berth only reports it
};

struct Xid {
  XidClass kind = XidClass::kUnknown;
  std::string_view meaning;  // empty: unknown
};
Xid describe_xid(std::int64_t code);

}  // namespace berth
