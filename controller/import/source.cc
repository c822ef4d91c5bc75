// SPDX-License-Identifier: Apache-2.0
#include "controller/import/source.h"

#include <fmt/format.h>

namespace berth {

std::string origin(const Source& source) {
  return fmt::format("{} ({}:{})", source.label, source.file, source.document.line);
}

}  // namespace berth
