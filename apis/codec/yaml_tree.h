// SPDX-License-Identifier: Apache-2.0
// YamlTree: a YAML document as a tree that keeps what yaml-cpp's nodes lose: the line of every key
// and value, duplicate keys, and whether a scalar was quoted. Sizes and depths are limited. Anchors
// stay references, so that a small text can't expand to a huge document.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth {

struct YamlNode {
  enum class Kind { kScalar, kSequence, kMapping, kAlias };
  Kind kind = Kind::kScalar;
  std::string text;  // of a scalar
  std::string tag;   // "?" plain, "!" quoted, else the tag as written
  int line = 0;      // 1-based
  // Indices. For a mapping: key, value, key, value, … For an alias: its target.
  std::vector<int> children;
};

struct YamlDocument {
  std::vector<YamlNode> nodes;  // the root is the first; empty: an empty document
  int line = 0;
};

struct YamlError {
  int line = 0;
  std::string message;
};

struct YamlStream {
  std::vector<YamlDocument> documents;  // those before the first error
  std::vector<YamlError> errors;
};

YamlStream parse_yaml(std::string_view text);

}  // namespace berth
