// SPDX-License-Identifier: Apache-2.0
#include "tests/support/places.h"

namespace berth::test {

const std::string& source_dir() {
  static const std::string folder = BERTH_SOURCE_DIR;
  return folder;
}

const std::string& binary_dir() {
  static const std::string folder = BERTH_BINARY_DIR;
  return folder;
}

}  // namespace berth::test
