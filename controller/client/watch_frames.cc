// SPDX-License-Identifier: Apache-2.0
#include "controller/client/watch_frames.h"

#include <algorithm>
#include <cstdint>

namespace berth {
namespace {

constexpr std::size_t kLengthBytes = 4;

std::size_t read_length(std::string_view big_endian) {
  std::uint32_t length = 0;
  for (const char c : big_endian) length = length << 8 | static_cast<unsigned char>(c);
  return length;
}

// The most memory to keep for the next event after a large one.
constexpr std::size_t kKept = 256 << 10;

void empty(std::string& event) {
  if (event.capacity() > kKept)
    event = std::string();
  else
    event.clear();
}

// Moves up to `wanted` bytes from the front of `from` to the end of `to`.
void move_up_to(std::size_t wanted, std::string_view& from, std::string& to) {
  const std::size_t count = std::min(wanted, from.size());
  to += from.substr(0, count);
  from.remove_prefix(count);
}

}  // namespace

bool WatchFrames::feed_lines(std::string_view bytes, const OnEvent& on_event) {
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, newline);
    if (partial_.size() + piece.size() > max_event_bytes_) return false;
    partial_ += piece;
    if (newline == std::string_view::npos) return true;
    bytes.remove_prefix(newline + 1);
    // on_event borrows the string, whose memory is reused for the next event.
    const bool go_on = partial_.empty() || on_event(partial_);
    empty(partial_);
    if (!go_on) return true;
  }
  return true;
}

bool WatchFrames::feed_messages(std::string_view bytes, const OnEvent& on_event) {
  while (!bytes.empty()) {
    move_up_to(kLengthBytes - length_.size(), bytes, length_);
    if (length_.size() < kLengthBytes) return true;
    const std::size_t length = read_length(length_);
    if (length > max_event_bytes_) return false;
    move_up_to(length - partial_.size(), bytes, partial_);
    if (partial_.size() < length) return true;
    length_.clear();
    const bool go_on = on_event(partial_);
    empty(partial_);
    if (!go_on) return true;
  }
  return true;
}

}  // namespace berth
