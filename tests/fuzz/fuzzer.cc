// SPDX-License-Identifier: Apache-2.0
// libFuzzer's way in, built by run-fuzzer with clang, which says which check it is for.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#ifndef BERTH_CHECK
#define BERTH_CHECK check_review
#endif

namespace berth::test {
std::string BERTH_CHECK(std::string_view input);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string wrong =
      berth::test::BERTH_CHECK(std::string_view(reinterpret_cast<const char*>(data), size));
  if (wrong.empty()) return 0;
  std::fprintf(stderr, "%s\n", wrong.c_str());
  std::abort();
}
