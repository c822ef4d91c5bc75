// SPDX-License-Identifier: Apache-2.0
#include "controller/import/fitted_name.h"

#include "apis/kinds/fields.h"
#include "controller/core/content_hash.h"

namespace berth {
namespace {

const std::string kLabelName = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
const std::string kSubdomainName =
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
constexpr std::size_t kMaxObjectName = 253;
constexpr std::size_t kMaxNamespaceName = 63;

bool is_alnum(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// The text's letters and digits, in lower case, with single hyphens for all other characters.
std::string hyphenated(std::string_view text, std::size_t most) {
  std::string name;
  for (char c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (is_alnum(c))
      name += c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
    if (name.size() == most) break;
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

}  // namespace

std::string fitted_name(std::string_view text, std::size_t most, NameGrammar grammar) {
  const std::string& pattern = grammar == NameGrammar::kLabel ? kLabelName : kSubdomainName;
  if (text.size() <= most && matches_pattern(text, pattern)) return std::string(text);
  const std::string hash = content_hash(text);
  const std::string name = hyphenated(text, most - hash.size() - 1);
  return name.empty() ? hash : name + "-" + hash;
}

bool is_object_name(std::string_view text) {
  return text.size() <= kMaxObjectName && matches_pattern(text, kSubdomainName);
}

bool is_namespace_name(std::string_view text) {
  return text.size() <= kMaxNamespaceName && matches_pattern(text, kLabelName);
}

}  // namespace berth
