// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>

namespace berth::test {
namespace {

using namespace std::string_view_literals;

// Tokens with a meaning in JSON, YAML, quantities and berth's own readers.
constexpr std::string_view kTokens[] = {"null"sv,
                                        "true"sv,
                                        "-1"sv,
                                        "0"sv,
                                        "1e999"sv,
                                        "9223372036854775807"sv,
                                        "9223372036854775808"sv,
                                        "-9223372036854775809"sv,
                                        "0x1F"sv,
                                        "1.5"sv,
                                        "100%"sv,
                                        "1Ei"sv,
                                        "1n"sv,
                                        "999999999999999999999Gi"sv,
                                        "{"sv,
                                        "}"sv,
                                        "["sv,
                                        "]"sv,
                                        "\""sv,
                                        "'"sv,
                                        ":"sv,
                                        ","sv,
                                        "\n"sv,
                                        "\r"sv,
                                        "\t"sv,
                                        " "sv,
                                        "\0"sv,
                                        "\\"sv,
                                        "\\u0000"sv,
                                        "\\ud800"sv,
                                        "\xff"sv,
                                        "\xc3"sv,
                                        "\xef\xbb\xbf"sv,
                                        "×"sv,
                                        "&a "sv,
                                        "*a"sv,
                                        "<<: "sv,
                                        "!!binary "sv,
                                        "!!int "sv,
                                        "- "sv,
                                        "? "sv,
                                        "|"sv,
                                        ">"sv,
                                        "#"sv,
                                        "---\n"sv,
                                        "...\n"sv,
                                        "%YAML 9\n"sv,
                                        "~"sv,
                                        "{}"sv,
                                        "[]"sv,
                                        "1g.10gb"sv,
                                        "nvidia.com/gpu"sv,
                                        "2026-11-21T12:00:00Z"sv,
                                        "9999999h"sv,
                                        "-r1"sv};

constexpr std::string_view kDigits = "0123456789";

}  // namespace

std::uint64_t mutation_seed() {
  const char* given = std::getenv("BERTH_FUZZ_SEED");
  return given == nullptr ? 1 : std::strtoull(given, nullptr, 10);
}

std::string Mutator::next() {
  std::string text = pick();
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) change(text);
  return text;
}

void Mutator::change(std::string& text) {
  const std::size_t at = below(text.size() + 1);
  const std::size_t length = std::min(text.size() - at, below(below(4) == 0 ? 200 : 12));
  const std::string_view token = kTokens[below(std::size(kTokens))];
  switch (below(14)) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
      return;
    case 1:
      if (at < text.size()) text[at] = static_cast<char>(below(256));
      return;
    case 2:
      text.erase(at, length);
      return;
    case 3:
      text.insert(at, text.substr(at, length));
      return;
    case 4:
      text.replace(at, length, token);
      return;
    case 5:
      text.insert(at, token);
      return;
    case 6:
      text.resize(at);
      return;
    case 7: {
      const std::string& other = pick();
      const std::size_t from = below(other.size() + 1);
      text.replace(at, length, other.substr(from, below(64)));
      return;
    }
    case 8: {
      // Rarely so deep that recursive code would exhaust the stack.
      std::string row;
      for (std::size_t n = below(200) == 0 ? 20'000 : below(40); n > 0; --n) row += token;
      text.insert(at, row);
      return;
    }
    default:
      replace_value(text, at, token);
  }
}

// Replaces the text between the next two quotes, or the next number; the rest stays valid.
void Mutator::replace_value(std::string& text, std::size_t from, std::string_view token) {
  if (below(2) == 0) {
    const std::size_t open = text.find('"', from);
    const std::size_t close = open == text.npos ? open : text.find('"', open + 1);
    if (close != text.npos) text.replace(open + 1, close - open - 1, token);
    return;
  }
  const std::size_t begin = text.find_first_of(kDigits, from);
  if (begin == text.npos) return;
  const std::size_t end = std::min(text.find_first_not_of(kDigits, begin), text.size());
  text.replace(begin, end - begin, token);
}

}  // namespace berth::test
