// SPDX-License-Identifier: Apache-2.0
#include "controller/core/flat_json.h"

#include <algorithm>
#include <charconv>

namespace berth {
namespace {

// Three times as many as any object of berth's own has.
constexpr std::size_t kMaxFields = 64;

struct Cursor {
  std::string_view text;
  std::size_t at = 0;

  char peek() const { return at < text.size() ? text[at] : '\0'; }
  void skip_space() {
    while (at < text.size() && std::string_view(" \t\r\n").find(text[at]) != text.npos) ++at;
  }
  bool take(char c) {
    skip_space();
    if (peek() != c) return false;
    ++at;
    return true;
  }
  // The text between two quotes, still escaped.
  std::optional<std::string_view> quoted() {
    if (!take('"')) return std::nullopt;
    const std::size_t start = at;
    while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
    if (at >= text.size()) return std::nullopt;
    return text.substr(start, at++ - start);
  }
  // A number, true, false or null.
  std::string_view literal() {
    skip_space();
    const std::size_t start = at;
    while (at < text.size() && (text[at] == '-' || (text[at] >= '0' && text[at] <= '9') ||
                                (text[at] >= 'a' && text[at] <= 'z')))
      ++at;
    return text.substr(start, at - start);
  }
};

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// berth escapes only quotes and backslashes; for other escapes the letter stays.
std::string unescape(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '\\' && i + 1 < raw.size()) ++i;
    out += raw[i];
  }
  return out;
}

}  // namespace

std::optional<FlatJson> FlatJson::parse(std::string_view text) {
  FlatJson result;
  result.fields_.reserve(16);
  Cursor cursor{text};
  if (!cursor.take('{')) return std::nullopt;
  bool first = true;
  while (!cursor.take('}')) {
    if (!first && !cursor.take(',')) return std::nullopt;
    first = false;
    Field field;
    auto key = cursor.quoted();
    if (!key || !cursor.take(':')) return std::nullopt;
    // Other readers may take the other value of a duplicate key.
    if (result.fields_.size() == kMaxFields ||
        std::ranges::find(result.fields_, *key, &Field::key) != result.fields_.end())
      return std::nullopt;
    field.key = *key;
    cursor.skip_space();
    if (cursor.peek() == '"') {
      auto value = cursor.quoted();
      if (!value) return std::nullopt;
      field.kind = Kind::kString;
      field.raw = *value;
    } else {
      field.raw = cursor.literal();
      if (field.raw == "true" || field.raw == "false")
        field.kind = Kind::kBoolean;
      else if (field.raw == "null")
        field.kind = Kind::kNull;
      else if (whole_number(field.raw))
        field.kind = Kind::kNumber;
      else
        return std::nullopt;
    }
    result.fields_.push_back(field);
  }
  cursor.skip_space();
  if (cursor.at != text.size()) return std::nullopt;
  return result;
}

const FlatJson::Field* FlatJson::find(std::string_view key) const {
  auto it = std::ranges::find(fields_, key, &Field::key);
  return it == fields_.end() || it->kind == Kind::kNull ? nullptr : &*it;
}

std::string FlatJson::string(std::string_view key) {
  const Field* field = find(key);
  if (field == nullptr) return {};
  if (field->kind != Kind::kString) wrong_ = true;
  return unescape(field->raw);
}

std::int64_t FlatJson::number(std::string_view key) {
  const Field* field = find(key);
  if (field == nullptr) return 0;
  if (field->kind != Kind::kNumber) wrong_ = true;
  return whole_number(field->raw).value_or(0);
}

bool FlatJson::boolean(std::string_view key) {
  const Field* field = find(key);
  if (field == nullptr) return false;
  if (field->kind != Kind::kBoolean) wrong_ = true;
  return field->raw == "true";
}

std::string flat_json_string(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

}  // namespace berth
