// SPDX-License-Identifier: Apache-2.0
// Target: one kind of foreign bytes that berth reads, and what must hold whatever they are. One
// table (targets.cc) serves libFuzzer (fuzzer.cc) and the test that replays the corpus and breaks
// it at random (mutation_test.cc). To add one: a check in checks.h and its .cc, a row in the table,
// and seeds in corpus/NAME.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::test {

// What a check found.
struct Verdict {
  std::string wrong;  // empty: all that must hold holds
  // The input was good enough for more than its error to be judged. A target of which hardly any
  // input is read tests nothing.
  bool read = false;
};

struct Target {
  std::string_view name;
  Verdict (*check)(std::string_view input);
  int mutations;               // how many broken seeds the test tries
  std::string_view more = {};  // a folder of more seeds, or a file of them, apart by ---
  // Makes the input of a seed that is written as text; none: the seed is the input.
  std::string (*encode)(const std::string& seed) = nullptr;
};

std::span<const Target> targets();
// Null if there is none of the name.
const Target* find_target(std::string_view name);
// In the order of their files' names.
std::vector<std::string> seeds_of(const Target& target);

}  // namespace berth::test
