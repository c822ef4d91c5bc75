// SPDX-License-Identifier: Apache-2.0
// Encoding: the two encodings in which an API server sends objects. Custom resources come only as
// JSON.
#pragma once

#include <cstdint>
#include <type_traits>

#include "apis/kinds/core.h"

namespace berth {

enum class Encoding : std::uint8_t {
  kJson,
  kProtobuf,  // application/vnd.kubernetes.protobuf
};

// berth asks for protobuf for kinds with tens of thousands of objects. It has about a quarter fewer
// bytes, and the reader skips managedFields, which are half of them.
template <class T>
inline constexpr Encoding kPreferredEncoding =
    std::is_same_v<T, Pod> || std::is_same_v<T, Node> ? Encoding::kProtobuf : Encoding::kJson;

}  // namespace berth
