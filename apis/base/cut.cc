// SPDX-License-Identifier: Apache-2.0
#include "apis/base/cut.h"

namespace berth {

std::string_view head(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  // A byte 10xxxxxx continues the character before it.
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

std::string cut(std::string_view text, std::size_t bytes, std::string_view dots) {
  if (text.size() <= bytes) return std::string(text);
  return std::string(head(text, bytes - dots.size())).append(dots);
}

}  // namespace berth
