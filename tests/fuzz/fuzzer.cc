// SPDX-License-Identifier: Apache-2.0
// The entry point for libFuzzer, for the target in BERTH_FUZZ_TARGET. With BERTH_FUZZ_SEEDS it
// first writes the target's seeds into that folder, so that libFuzzer starts with them.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/fuzz/target.h"

namespace {

const berth::test::Target* target = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = std::getenv("BERTH_FUZZ_TARGET");
  target = berth::test::find_target(name == nullptr ? "" : name);
  if (target == nullptr) {
    std::fprintf(stderr, "BERTH_FUZZ_TARGET must be one of");
    for (const berth::test::Target& known : berth::test::targets())
      std::fprintf(stderr, " %s", std::string(known.name).c_str());
    std::fprintf(stderr, "\n");
    std::exit(2);
  }
  if (const char* folder = std::getenv("BERTH_FUZZ_SEEDS")) {
    int number = 0;
    for (const std::string& seed : seeds_of(*target))
      std::ofstream(std::string(folder) + "/seed-" + std::to_string(number++), std::ios::binary)
          << seed;
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string wrong =
      target->check(std::string_view(reinterpret_cast<const char*>(data), size)).wrong;
  if (wrong.empty()) return 0;
  std::fprintf(stderr, "%s\n", wrong.c_str());
  std::abort();
}
