// SPDX-License-Identifier: Apache-2.0
// libFuzzer's way in, built by run-review-fuzzer with clang.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/review_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string wrong =
      berth::test::check_review(std::string_view(reinterpret_cast<const char*>(data), size));
  if (wrong.empty()) return 0;
  std::fprintf(stderr, "%s\n", wrong.c_str());
  std::abort();
}
