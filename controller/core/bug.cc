// SPDX-License-Identifier: Apache-2.0
#include "controller/core/bug.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace berth {

void bug(std::string_view what, std::source_location at) {
  std::fputs(fmt::format("berth has a bug and ends: {} ({}:{}, {}). Please report this line, and "
                         "the log before it, with what `berth version` prints\n",
                         what, at.file_name(), at.line(), at.function_name())
                 .c_str(),
             stderr);
  std::abort();
}

}  // namespace berth
