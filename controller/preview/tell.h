// SPDX-License-Identifier: Apache-2.0
// Tell: how previews write lines of text. Every string that is filled in, an annotation's words or
// an agent's, is taken for foreign and stays within its line (apis/printable.h).
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

#include "apis/printable.h"

namespace berth {

template <class T>
decltype(auto) within_line(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>)
    return printable(value);
  else
    return (value);
}

// As fmt::format_to does, whose format alone may break the line.
template <class... Args>
void tell(std::back_insert_iterator<std::string> out,
          fmt::format_string<decltype(within_line(std::declval<const Args&>()))...> format,
          const Args&... args) {
  fmt::format_to(out, format, within_line(args)...);
}

}  // namespace berth
