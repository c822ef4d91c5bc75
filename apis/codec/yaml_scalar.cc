// SPDX-License-Identifier: Apache-2.0
#include "apis/codec/yaml_scalar.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

namespace berth {
namespace {

using Json = nlohmann::json;

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

std::optional<bool> read_bool(std::string_view text) {
  if (is_one_of(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"}))
    return true;
  if (is_one_of(text, {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"}))
    return false;
  return std::nullopt;
}

bool is_null_word(std::string_view text) {
  return is_one_of(text, {"", "~", "null", "Null", "NULL"});
}

bool is_no_number(std::string_view text) {
  return is_one_of(text, {".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF",
                          "-.inf", "-.Inf", "-.INF"});
}

// Go's strconv.ParseInt(text, 0, 64) without underscores: 0x, 0o, 0b, and a leading 0 for octal.
std::optional<Json> read_integer(std::string_view text) {
  bool negative = !text.empty() && text.front() == '-';
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) base = 16;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B')) base = 2;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'o' || text[1] == 'O')) base = 8;
  if (base != 10)
    text.remove_prefix(2);
  else if (text.size() > 1 && text[0] == '0')
    base = 8;
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!negative) return value <= INT64_MAX ? Json(static_cast<std::int64_t>(value)) : Json(value);
  if (value > static_cast<std::uint64_t>(INT64_MAX) + 1) return std::nullopt;
  return Json(static_cast<std::int64_t>(0 - value));
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool looks_like_float(std::string_view text) {
  auto digits = [&text] {
    std::size_t count = 0;
    while (!text.empty() && text.front() >= '0' && text.front() <= '9')
      text.remove_prefix(1), ++count;
    return count;
  };
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  std::size_t whole = digits();
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    if (digits() == 0 && whole == 0) return false;
  } else if (whole == 0) {
    return false;
  }
  if (text.empty()) return true;
  if (text.front() != 'e' && text.front() != 'E') return false;
  text.remove_prefix(1);
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  return digits() > 0 && text.empty();
}

// JSON has one kind of number: 2.0 and 2e0 are the whole number 2 for the server.
std::optional<Json> read_float(std::string_view text) {
  if (!looks_like_float(text)) return std::nullopt;
  if (text.front() == '+') text.remove_prefix(1);
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (value == std::trunc(value) && std::abs(value) <= kExact)
    return Json(static_cast<std::int64_t>(value));
  return Json(value);
}

std::optional<Json> read_number(const std::string& text) {
  if (text.empty() ||
      std::string_view("+-.0123456789").find(text.front()) == std::string_view::npos) {
    return std::nullopt;
  }
  std::string plain = text;
  plain.erase(std::remove(plain.begin(), plain.end(), '_'), plain.end());
  if (auto integer = read_integer(plain)) return integer;
  return read_float(plain);
}

}  // namespace

Result<Json> type_scalar(const std::string& text, const std::string& tag) {
  constexpr std::string_view kYaml = "tag:yaml.org,2002:";
  std::string_view type = tag;
  if (type.starts_with(kYaml)) type.remove_prefix(kYaml.size());
  if (tag != "?" && type == tag) return Json(text);  // quoted, or with a custom tag
  if (type == "str" || type == "binary") return Json(text);

  Json value = text;
  if (is_null_word(text))
    value = nullptr;
  else if (auto truth = read_bool(text))
    value = *truth;
  else if (is_no_number(text))
    return decode_error("", fmt::format("{} is not a number that JSON can hold", text));
  else if (auto number = read_number(text))
    value = *std::move(number);

  bool fits = type == "?" || (type == "null" && value.is_null()) ||
              (type == "bool" && value.is_boolean()) ||
              (type == "int" && value.is_number_integer()) ||
              (type == "float" && value.is_number()) || (type == "timestamp" && value.is_string());
  if (!fits)
    return decode_error("", fmt::format("\"{}\" is not of the type that its tag !!{} says",
                                        text.substr(0, 64), type));
  return value;
}

Result<std::string> type_key(const std::string& text, const std::string& tag) {
  Result<Json> key = type_scalar(text, tag);
  if (!key) return std::move(key).error();
  if (key->is_string()) return text;
  if (key->is_null()) return decode_error("", "a key is missing");
  return key->dump();
}

}  // namespace berth
