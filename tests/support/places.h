// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace berth::test {

// The tested checkout, and its build folder; absolute, without a trailing slash. Only this header's
// .cc knows them, so that all other files compile to the same object in every checkout and a
// compiler cache serves them all.
const std::string& source_dir();
const std::string& binary_dir();

}  // namespace berth::test
