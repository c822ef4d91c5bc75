// SPDX-License-Identifier: Apache-2.0
#include "controller/core/json_patch.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>

namespace berth {
namespace {

// Characters that Go's encoding/json writes differently from nlohmann::json.
struct GoEscape {
  std::string_view character;
  std::string_view written;
};
constexpr GoEscape kGoEscapes[] = {{"<", "\\u003c"},
                                   {">", "\\u003e"},
                                   {"&", "\\u0026"},
                                   {"\u2028", "\\u2028"},
                                   {"\u2029", "\\u2029"}};

bool stands_for_itself(char c) {
  return c >= ' ' && c <= '~' && std::string_view("\"\\<>&").find(c) == std::string_view::npos;
}

}  // namespace

std::string escape_pointer(std::string_view token) {
  std::string out;
  for (char c : token) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

std::string label_path(std::string_view key) { return "/metadata/labels/" + escape_pointer(key); }

std::string annotation_path(std::string_view key) {
  return "/metadata/annotations/" + escape_pointer(key);
}

std::string quote_json(std::string_view text) {
  std::string quoted;
  append_quoted(quoted, text);
  return quoted;
}

void append_quoted(std::string& out, std::string_view text) {
  if (std::ranges::all_of(text, stands_for_itself)) {
    out.append(1, '"').append(text).append(1, '"');
    return;
  }
  // Bytes that are not UTF-8 become U+FFFD: the API server would refuse them.
  const std::string quoted =
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  for (std::size_t at = 0; at < quoted.size();) {
    const std::size_t length = std::string_view(quoted).substr(at).starts_with("\xe2\x80") ? 3 : 1;
    const std::string_view character = std::string_view(quoted).substr(at, length);
    const auto* escape = std::ranges::find(kGoEscapes, character, &GoEscape::character);
    out += escape == std::end(kGoEscapes) ? character : escape->written;
    at += length;
  }
}

JsonPatch& JsonPatch::append(std::string_view op, std::string_view path,
                             std::string_view json_value) {
  if (!operations_.empty()) operations_ += ',';
  operations_ += "{\"op\":\"";
  operations_ += op;
  operations_ += "\",\"path\":";
  append_quoted(operations_, path);
  if (!json_value.empty()) {
    operations_ += ",\"value\":";
    operations_ += json_value;
  }
  operations_ += '}';
  return *this;
}

JsonPatch& JsonPatch::test(std::string_view path, std::string_view text) {
  return append("test", path, quote_json(text));
}
JsonPatch& JsonPatch::test_bool(std::string_view path, bool value) {
  return append("test", path, value ? "true" : "false");
}
JsonPatch& JsonPatch::test_absent(std::string_view path) { return append("test", path, "null"); }
JsonPatch& JsonPatch::set(std::string_view path, std::string_view text) {
  return append("add", path, quote_json(text));
}
JsonPatch& JsonPatch::set_bool(std::string_view path, bool value) {
  return append("add", path, value ? "true" : "false");
}
JsonPatch& JsonPatch::set_json(std::string_view path, std::string_view json, Op op) {
  return append(op == Op::kAdd ? "add" : "replace", path, json);
}
JsonPatch& JsonPatch::remove(std::string_view path) { return append("remove", path, ""); }
JsonPatch& JsonPatch::test_optional(std::string_view path, const std::optional<std::string>& text) {
  return text ? test(path, *text) : test_absent(path);
}

}  // namespace berth
