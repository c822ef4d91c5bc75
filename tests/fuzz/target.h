// SPDX-License-Identifier: Apache-2.0
// Target: one kind of foreign bytes that berth reads, and what must hold for all of them. One table
// (targets.cc) serves libFuzzer (fuzzer.cc) and the test that replays and randomly breaks the
// corpus (mutation_test.cc). To add one: a check in checks.h and its .cc, a row in the table, and
// seeds in corpus/NAME.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::test {

// The result of a check.
struct Verdict {
  std::string wrong;  // empty: everything holds
  // The input was valid enough to test more than its error. A target that reads hardly any input
  // tests nothing.
  bool read = false;
};

struct Target {
  std::string_view name;
  Verdict (*check)(std::string_view input);
  int mutations;               // broken seeds that the test tries
  std::string_view more = {};  // a folder with more seeds, or a file with seeds separated by ---
  // Makes the input from a seed in text form; null: the seed is the input.
  std::string (*encode)(const std::string& seed) = nullptr;
};

std::span<const Target> targets();
// Null: there is no such target.
const Target* find_target(std::string_view name);
// Ordered by file name.
std::vector<std::string> seeds_of(const Target& target);

}  // namespace berth::test
