// SPDX-License-Identifier: Apache-2.0
#include "controller/core/json_patch.h"

#include <nlohmann/json.hpp>

namespace berth {

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
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end && *at >= ' ' && *at <= '~' && *at != '"' && *at != '\\') ++at;
  // Bytes that are not UTF-8 become U+FFFD: the API server would refuse them.
  if (at == end)
    out.append(1, '"').append(text).append(1, '"');
  else
    out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
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
