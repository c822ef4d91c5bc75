// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace berth::test {

// The checkout that is tested, and the folder of what was built of it; absolute, without a slash at
// the end. Known to one file alone, so that all others compile to the same object in every
// checkout, and a compiler's cache serves them all.
const std::string& source_dir();
const std::string& binary_dir();

}  // namespace berth::test
