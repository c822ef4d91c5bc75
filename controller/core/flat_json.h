// SPDX-License-Identifier: Apache-2.0
// FlatJson: reads one JSON object of strings, whole numbers and booleans, which is the shape of
// all that berth keeps in annotations and in the ledger. Thousands of nodes carry one, and it is
// read at each reconcile, so it is scanned in place; a person may have edited it, so anything else
// is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

class FlatJson {
 public:
  // Nothing if the text is not such an object. Views into `text`, which must outlive this.
  static std::optional<FlatJson> parse(std::string_view text);

  // The value, or what stands for absence; a value of another kind marks the whole as wrong.
  std::string string(std::string_view key);
  std::int64_t number(std::string_view key);
  bool boolean(std::string_view key);
  bool has(std::string_view key) const { return find(key) != nullptr; }
  // Whether a value was of another kind than asked for.
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

// The text in quotes, as FlatJson reads it back: control characters, which JSON forbids in a
// string, become spaces.
std::string flat_json_string(std::string_view text);

}  // namespace berth
