// SPDX-License-Identifier: Apache-2.0
#include "apis/base/printable.h"

#include <algorithm>
#include <cstddef>

namespace berth {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

enum class Style { kLine, kLines, kQuoted };

bool is_plain(char c) { return c >= 0x20 && c < 0x7f; }

// The UTF-8 sequence at the start of a text; length 0 if there is no valid one.
struct Character {
  std::size_t length = 0;
  unsigned code = 0;
};

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {1, first};
  const std::size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (length == 0 || first > 0xf4 || length > text.size()) return {};
  unsigned code = first & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return overlong || surrogate || code > 0x10ffff ? Character{} : Character{length, code};
}

// Characters that change how a terminal or a reader shows the text.
bool is_obeyed(unsigned code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) ||  // C0, DEL and C1
         code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069) ||  // direction
         code == 0x2028 || code == 0x2029;      // line breaks
}

void append_escape(std::string& out, unsigned code) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += "\\u";
  for (const unsigned shift : {12u, 8u, 4u, 0u}) out += kHex[code >> shift & 15u];
}

void append(std::string& out, std::string_view text, Style style) {
  while (!text.empty()) {
    const auto [length, code] = first_character(text);
    if (length == 0)
      out += kReplacement;
    else if (style == Style::kQuoted && (code == '"' || code == '\\'))
      out.append(1, '\\').append(text.substr(0, 1));
    else if (code == '\n')
      out += style == Style::kLines ? "\n" : "\\n";
    else if (is_obeyed(code))
      append_escape(out, code);
    else
      out += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
}

std::string rewritten(std::string_view text, Style style) {
  if (std::ranges::all_of(text, is_plain)) return std::string(text);  // the common case
  std::string out;
  append(out, text, style);
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return rewritten(text, Style::kLine); }

std::string printable_lines(std::string_view text) { return rewritten(text, Style::kLines); }

std::string printable_quoted(std::string_view text) {
  std::string out = "\"";
  append(out, text, Style::kQuoted);
  return out + '"';
}

}  // namespace berth
