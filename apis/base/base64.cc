// SPDX-License-Identifier: Apache-2.0
#include "apis/base/base64.h"

#include <cstdint>

namespace berth {
namespace {

int value_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  std::size_t digits = 0;
  std::size_t padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const int value = value_of(c);
    if (value < 0 || padding > 0) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(value);
    if (++digits % 4 == 0) {
      out += static_cast<char>(bits >> 16);
      out += static_cast<char>(bits >> 8);
      out += static_cast<char>(bits);
    }
  }
  if ((digits + padding) % 4 != 0 || padding > 2) return std::nullopt;
  if (padding == 1) {
    out += static_cast<char>(bits >> 10);
    out += static_cast<char>(bits >> 2);
  } else if (padding == 2) {
    out += static_cast<char>(bits >> 4);
  }
  return out;
}

std::string encode_base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out((bytes.size() + 2) / 3 * 4, '=');
  char* to = out.data();
  const char* const from = bytes.data();
  const auto byte = [from](std::size_t i) -> std::uint32_t {
    return static_cast<unsigned char>(from[i]);
  };
  std::size_t at = 0;
  for (; at + 3 <= bytes.size(); at += 3) {
    const std::uint32_t bits = byte(at) << 16 | byte(at + 1) << 8 | byte(at + 2);
    *to++ = kDigits[bits >> 18];
    *to++ = kDigits[bits >> 12 & 63];
    *to++ = kDigits[bits >> 6 & 63];
    *to++ = kDigits[bits & 63];
  }
  const std::size_t left = bytes.size() - at;
  if (left == 0) return out;
  const std::uint32_t bits = byte(at) << 16 | (left > 1 ? byte(at + 1) << 8 : 0U);
  *to++ = kDigits[bits >> 18];
  *to++ = kDigits[bits >> 12 & 63];
  if (left > 1) *to++ = kDigits[bits >> 6 & 63];
  return out;
}

}  // namespace berth
