// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/name_rules.h"

#include <algorithm>
#include <cctype>

namespace berth::sim {
namespace {

bool is_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

}  // namespace

bool is_subdomain(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  bool letter_before = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool letter = std::islower(static_cast<unsigned char>(c)) != 0 ||
                        std::isdigit(static_cast<unsigned char>(c)) != 0;
    const bool joins = (c == '-' || c == '.') && i > 0 && i + 1 < text.size() &&
                       (c == '-' ? text[i - 1] != '.' : letter_before);
    if (!letter && !joins) return false;
    letter_before = letter;
  }
  return true;
}

bool is_label_part(std::string_view text) {
  return !text.empty() && text.size() <= 63 && is_alnum(text.front()) && is_alnum(text.back()) &&
         std::ranges::all_of(
             text, [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_qualified_name(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return is_label_part(text);
  return is_subdomain(text.substr(0, slash)) && is_label_part(text.substr(slash + 1));
}

}  // namespace berth::sim
