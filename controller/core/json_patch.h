// SPDX-License-Identifier: Apache-2.0
// JsonPatch: builds RFC 6902 patches whose tests are the precondition of the write.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace berth {

// "/metadata/labels/" + escape_pointer("nvidia.com/mig.config").
std::string escape_pointer(std::string_view token);
std::string label_path(std::string_view key);
std::string annotation_path(std::string_view key);

class JsonPatch {
 public:
  enum class Op { kAdd, kReplace };
  // A test of an absent key passes with null only if its parent exists. Test the parent map too if
  // it may be absent.
  JsonPatch& test(std::string_view path, std::string_view text);
  JsonPatch& test_bool(std::string_view path, bool value);
  JsonPatch& test_absent(std::string_view path);
  JsonPatch& set(std::string_view path, std::string_view text);  // "add": creates or replaces
  JsonPatch& set_bool(std::string_view path, bool value);
  // `json` is JSON text already.
  JsonPatch& set_json(std::string_view path, std::string_view json, Op op = Op::kAdd);
  JsonPatch& remove(std::string_view path);  // the path must exist
  // Tests for the text if there is one, else for absence.
  JsonPatch& test_optional(std::string_view path, const std::optional<std::string>& text);
  std::string str() const { return "[" + operations_ + "]"; }

 private:
  JsonPatch& append(std::string_view op, std::string_view path, std::string_view json_value);
  std::string operations_;
};

// A JSON string literal, byte for byte as Go 1.22's encoding/json and later write it. The API
// server compares the value of a patch's test with its own encoding as bytes, without parsing
// either: "a<b" never equals its "a\u003cb" (docs/kubernetes-behaviour.md).
std::string quote_json(std::string_view text);
void append_quoted(std::string& out, std::string_view text);

}  // namespace berth
