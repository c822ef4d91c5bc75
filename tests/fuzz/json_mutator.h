// SPDX-License-Identifier: Apache-2.0
// JsonMutator: breaks JSON values where they mean something, the same way at each run. What comes
// out is JSON again: a field has another type, an absurd value, a twin, a stranger beside it, or is
// gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <random>
#include <string>

namespace berth::test {

class JsonMutator {
 public:
  explicit JsonMutator(std::uint64_t seed) : random_(seed) {}

  // One to four changes, each somewhere below the value.
  nlohmann::json mutated(nlohmann::json value);
  // Something that no schema expects: any type, any size up to some 100 kB.
  nlohmann::json absurd();
  // A text that somebody gives a meaning to: a quantity, a duration, a cron line, a key, …
  std::string meaningful();
  std::size_t below(std::size_t limit) { return random_() % limit; }

 private:
  void change(nlohmann::json& value);
  void change_object(nlohmann::json& object);
  void change_list(nlohmann::json& list);

  std::mt19937_64 random_;
};

}  // namespace berth::test
