// SPDX-License-Identifier: Apache-2.0
// Mutator: makes broken inputs from good ones, reproducibly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::test {

// BERTH_FUZZ_SEED, or the tests' default.
std::uint64_t mutation_seed();

class Mutator {
 public:
  Mutator(std::vector<std::string> corpus, std::uint64_t seed)
      : corpus_(std::move(corpus)), random_(seed) {}
  // One input of the corpus with one to four changes.
  std::string next();

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  const std::string& pick() { return corpus_[below(corpus_.size())]; }
  void change(std::string& text);
  void replace_value(std::string& text, std::size_t from, std::string_view token);

  std::vector<std::string> corpus_;
  std::mt19937_64 random_;
};

}  // namespace berth::test
