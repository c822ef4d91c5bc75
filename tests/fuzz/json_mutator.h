// SPDX-License-Identifier: Apache-2.0
// JsonMutator: breaks JSON values at meaningful places, reproducibly. The result is JSON again: a
// field has another type, an absurd value, a duplicate, an unknown neighbour, or is removed.
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

  // One to four changes inside of the value.
  nlohmann::json mutated(nlohmann::json value);
  // A value that no schema expects: any type, any size up to some 100 kB.
  nlohmann::json absurd();
  // A text with a meaning: a quantity, a duration, a cron line, a key, …
  std::string meaningful();
  std::size_t below(std::size_t limit) { return random_() % limit; }

 private:
  void change(nlohmann::json& value);
  void change_object(nlohmann::json& object);
  void change_list(nlohmann::json& list);

  std::mt19937_64 random_;
};

}  // namespace berth::test
