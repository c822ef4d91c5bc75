// SPDX-License-Identifier: Apache-2.0
#include "controller/client/watch_frames.h"

namespace berth {

bool WatchFrames::feed(std::string_view bytes, const std::function<bool(std::string&)>& on_line) {
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, newline);
    if (partial_.size() + piece.size() > max_line_bytes_) return false;
    partial_ += piece;
    if (newline == std::string_view::npos) return true;
    bytes.remove_prefix(newline + 1);
    // The string is lent out and keeps its memory for the next line.
    const bool go_on = partial_.empty() || on_line(partial_);
    partial_.clear();
    if (!go_on) return true;
  }
  return true;
}

}  // namespace berth
