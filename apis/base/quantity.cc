// SPDX-License-Identifier: Apache-2.0
#include "apis/base/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace berth {
namespace {

constexpr std::int64_t kNanosPerUnit = 1'000'000'000;
constexpr int128_t kMaxNanos =
    static_cast<int128_t>(std::numeric_limits<std::int64_t>::max()) * kNanosPerUnit;

struct Suffix {
  int power_of_ten = 0;
  int power_of_1024 = 0;
};

// Away from zero, like Quantity.Value().
std::int64_t round_up(int128_t nanos, std::int64_t unit) {
  int128_t units = nanos / unit;
  if (nanos % unit > 0) ++units;
  if (nanos % unit < 0) --units;
  return static_cast<std::int64_t>(std::clamp<int128_t>(
      units, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "e3", "E-6". The result is limited: beyond a few dozen, every quantity is zero or too large.
std::optional<int> read_exponent(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (text.empty()) return std::nullopt;
  int value = 0;
  for (char c : text) {
    if (!is_digit(c)) return std::nullopt;
    value = std::min(value * 10 + (c - '0'), 100'000);
  }
  return negative ? -value : value;
}

std::optional<Suffix> read_suffix(std::string_view text) {
  if (text.empty()) return Suffix{};
  constexpr std::string_view kBinary = "KMGTPE";
  if (text.size() == 2 && text[1] == 'i') {
    auto at = kBinary.find(text[0]);
    if (at == std::string_view::npos) return std::nullopt;
    return Suffix{0, static_cast<int>(at) + 1};
  }
  if (text.size() == 1) {
    switch (text[0]) {
      case 'n':
        return Suffix{-9, 0};
      case 'u':
        return Suffix{-6, 0};
      case 'm':
        return Suffix{-3, 0};
      case 'k':
        return Suffix{3, 0};
      case 'M':
        return Suffix{6, 0};
      case 'G':
        return Suffix{9, 0};
      case 'T':
        return Suffix{12, 0};
      case 'P':
        return Suffix{15, 0};
      case 'E':
        return Suffix{18, 0};
      default:
        return std::nullopt;
    }
  }
  if (text[0] != 'e' && text[0] != 'E') return std::nullopt;
  auto exponent = read_exponent(text.substr(1));
  if (!exponent) return std::nullopt;
  return Suffix{*exponent, 0};
}

// A decimal number of any length, most significant digit first, times 10^exponent. Slow and exact.
// Used only for quantities with a point, an exponent or more than 18 digits.
struct Decimal {
  std::vector<int> digits;
  int exponent = 0;

  void multiply(int factor) {
    int carry = 0;
    for (auto d = digits.rbegin(); d != digits.rend(); ++d) {
      int value = *d * factor + carry;
      *d = value % 10;
      carry = value / 10;
    }
    for (; carry > 0; carry /= 10) digits.insert(digits.begin(), carry % 10);
  }

  // The value in units, rounded away from zero; nullopt if it is larger than `limit`.
  std::optional<int128_t> round_up(int128_t limit) const {
    int kept = static_cast<int>(digits.size()) + exponent;  // digits left of the point
    int128_t value = 0;
    bool rest = false;
    for (std::size_t i = 0; i < digits.size(); ++i) {
      if (static_cast<int>(i) >= kept) {
        rest = rest || digits[i] != 0;
        continue;
      }
      value = value * 10 + digits[i];
      if (value > limit) return std::nullopt;
    }
    for (int i = static_cast<int>(digits.size()); i < kept && value != 0; ++i) {
      value *= 10;
      if (value > limit) return std::nullopt;
    }
    if (rest) ++value;
    return value > limit ? std::nullopt : std::optional(value);
  }
};

Error bad_quantity(std::string_view text) {
  return decode_error(
      "", fmt::format("\"{}\" is not a quantity: write a number with an optional suffix (n u m k M "
                      "G T P E, Ki Mi Gi Ti Pi Ei) or exponent (1e3)",
                      text.substr(0, 64)));
}

Error too_large(std::string_view text) {
  return decode_error(
      "", fmt::format("\"{}\" is too large a quantity: at most 9223372036854775807 is kept",
                      text.substr(0, 64)));
}

std::string print(int128_t value) {
  bool negative = value < 0;
  int128_t rest = negative ? -value : value;
  std::string text;
  do {
    text.push_back(static_cast<char>('0' + static_cast<int>(rest % 10)));
    rest /= 10;
  } while (rest != 0);
  if (negative) text.push_back('-');
  std::reverse(text.begin(), text.end());
  return text;
}

}  // namespace

Result<Quantity> Quantity::parse(std::string_view text) {
  // A longer quantity is an attack or a mistake; the API server writes short ones.
  constexpr std::size_t kMaxLength = 128;
  if (text.size() > kMaxLength) return bad_quantity(text);

  std::string_view rest = text;
  bool negative = false;
  if (!rest.empty() && (rest.front() == '+' || rest.front() == '-')) {
    negative = rest.front() == '-';
    rest.remove_prefix(1);
  }
  std::size_t whole = 0;
  while (whole < rest.size() && is_digit(rest[whole])) ++whole;
  std::size_t end = whole, decimals = 0;
  if (end < rest.size() && rest[end] == '.') {
    ++end;
    while (end < rest.size() && is_digit(rest[end])) ++end;
    decimals = end - whole - 1;
  }
  if (whole + decimals == 0) return bad_quantity(text);
  std::optional<Suffix> suffix = read_suffix(rest.substr(end));
  if (!suffix) return bad_quantity(text);

  if (suffix->power_of_ten == 0 && decimals == 0 && whole <= 18) {
    std::int64_t units = 0;
    for (char c : rest.substr(0, whole)) units = units * 10 + (c - '0');
    int128_t nanos = static_cast<int128_t>(units) * kNano;
    for (int i = 0; i < suffix->power_of_1024; ++i) {
      nanos *= 1024;
      if (nanos > kMaxNanos) return too_large(text);
    }
    return Quantity(negative ? -nanos : nanos);
  }

  Decimal decimal;
  for (char c : rest.substr(0, end)) {
    if (c != '.') decimal.digits.push_back(c - '0');
  }
  decimal.exponent = suffix->power_of_ten - static_cast<int>(decimals) + 9;
  for (int i = 0; i < suffix->power_of_1024; ++i) decimal.multiply(1024);
  std::optional<int128_t> nanos = decimal.round_up(kMaxNanos);
  if (!nanos) return too_large(text);
  return Quantity(negative ? -*nanos : *nanos);
}

std::optional<std::int64_t> Quantity::as_whole() const {
  if (nanos_ % kNano != 0) return std::nullopt;
  int128_t units = nanos_ / kNano;
  if (units > std::numeric_limits<std::int64_t>::max() ||
      units < std::numeric_limits<std::int64_t>::min()) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(units);
}

std::int64_t Quantity::rounded_up() const { return round_up(nanos_, kNano); }

std::int64_t Quantity::thousandths_rounded_up() const { return round_up(nanos_, kNano / 1000); }

std::string Quantity::str() const {
  if (nanos_ % kNano == 0) return print(nanos_ / kNano);
  if (nanos_ % 1'000'000 == 0) return print(nanos_ / 1'000'000) + "m";
  if (nanos_ % 1'000 == 0) return print(nanos_ / 1'000) + "u";
  return print(nanos_) + "n";
}

}  // namespace berth
