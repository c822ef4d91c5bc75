// SPDX-License-Identifier: Apache-2.0
// The two forms in which an API server sends objects. Custom resources come as JSON only.
#pragma once

#include <cstdint>
#include <type_traits>

#include "apis/core.h"

namespace berth {

enum class Encoding : std::uint8_t {
  kJson,
  kProtobuf,  // application/vnd.kubernetes.protobuf
};

// The kinds that berth asks for in protobuf: those of which there are tens of thousands. About a
// quarter fewer bytes, and managedFields, half of them, are stepped over unread.
template <class T>
inline constexpr Encoding kPreferredEncoding =
    std::is_same_v<T, Pod> || std::is_same_v<T, Node> ? Encoding::kProtobuf : Encoding::kJson;

}  // namespace berth
