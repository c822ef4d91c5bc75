// SPDX-License-Identifier: Apache-2.0
// FlatJson: reads one JSON object of strings, whole numbers and booleans, the form of berth's
// annotations and ledger entries. Thousands of nodes carry one, and each reconcile reads it, so the
// parser copies nothing. It refuses any other JSON, because users may have edited the text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

class FlatJson {
 public:
  // nullopt if the text is no such object. The result points into `text`, which must outlive it.
  static std::optional<FlatJson> parse(std::string_view text);

  // The value, or an empty one if the key is absent. A value of another kind sets wrong().
  std::string string(std::string_view key);
  std::int64_t number(std::string_view key);
  bool boolean(std::string_view key);
  bool has(std::string_view key) const { return find(key) != nullptr; }
  // Whether some value was of another kind than the caller asked for.
  bool wrong() const { return wrong_; }

 private:
  enum class Kind { kString, kNumber, kBoolean, kNull };
  struct Field {
    std::string_view key;
    Kind kind = Kind::kNull;
    std::string_view raw;  // between the quotes, or the literal
  };
  const Field* find(std::string_view key) const;

  std::vector<Field> fields_;
  bool wrong_ = false;
};

// A quoted JSON string that FlatJson can read. Control characters become spaces: JSON forbids them.
std::string flat_json_string(std::string_view text);

}  // namespace berth
