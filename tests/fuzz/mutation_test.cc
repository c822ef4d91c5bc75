// SPDX-License-Identifier: Apache-2.0
// The checks of every target, on its seeds and on randomly broken seeds. The sanitizers judge too.
// The seed is fixed, so that failures are reproducible; BERTH_FUZZ_SEED=7 build/dev/fuzz_test uses
// another one, and tests/fuzz/run-fuzzer runs libFuzzer.
#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <string>

#include "tests/fuzz/mutator.h"
#include "tests/fuzz/target.h"

namespace berth::test {
namespace {

class Targets : public ::testing::TestWithParam<Target> {};

Verdict checked(const std::string& input) {
  try {
    return Targets::GetParam().check(input);
  } catch (const std::exception& error) {
    return {.wrong = std::string("throws ") + error.what()};
  }
}

TEST_P(Targets, HoldOfEverySeedAndOfBrokenOnes) {
  const std::vector<std::string> seeds = seeds_of(GetParam());
  ASSERT_FALSE(seeds.empty()) << "tests/fuzz/corpus has none of it";
  int read = 0;
  for (const std::string& seed : seeds) {
    const Verdict verdict = checked(seed);
    EXPECT_EQ(verdict.wrong, "") << seed.substr(0, 2000);
    if (verdict.read) ++read;
  }
  EXPECT_GT(read, 0) << "no seed is good enough to be broken";
  Mutator mutator(seeds, mutation_seed());
  read = 0;
  for (int i = 0; i < GetParam().mutations; ++i) {
    const std::string input = mutator.next();
    const Verdict verdict = checked(input);
    ASSERT_EQ(verdict.wrong, "") << "input " << i << ":\n" << input.substr(0, 2000);
    if (verdict.read) ++read;
  }
  EXPECT_GT(read, GetParam().mutations / 50) << "too few are read";
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Targets, ::testing::ValuesIn(targets().begin(), targets().end()),
                         [](const ::testing::TestParamInfo<Target>& row) {
                           std::string name(row.param.name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace berth::test
