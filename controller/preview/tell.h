// SPDX-License-Identifier: Apache-2.0
// Tell: writes lines of text for previews. It treats every string argument, for example from an
// annotation, as foreign text, and keeps it within its line (apis/base/printable.h).
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

#include "apis/base/printable.h"

namespace berth {

template <class T>
decltype(auto) within_line(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>)
    return printable(value);
  else
    return (value);
}

// Like fmt::format_to; only the format itself can contain line breaks.
template <class... Args>
void tell(std::back_insert_iterator<std::string> out,
          fmt::format_string<decltype(within_line(std::declval<const Args&>()))...> format,
          const Args&... args) {
  fmt::format_to(out, format, within_line(args)...);
}

}  // namespace berth
