// SPDX-License-Identifier: Apache-2.0
// WatchFrames: splits a watch stream into its lines, one JSON event each, however the bytes were
// cut on the way.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace berth {

inline constexpr std::size_t kMaxWatchEventBytes = 4u << 20;

class WatchFrames {
 public:
  explicit WatchFrames(std::size_t max_line_bytes = kMaxWatchEventBytes)
      : max_line_bytes_(max_line_bytes) {}

  // Calls on_line for each line that the bytes complete, without its newline; empty lines are
  // skipped. The string is the reader's to change until on_line returns. False: a line is longer
  // than the limit, and the stream is of no further use. on_line may return false to stop: nothing
  // more is handed out.
  bool feed(std::string_view bytes, const std::function<bool(std::string&)>& on_line);

  std::size_t partial_bytes() const { return partial_.size(); }  // of a line not yet ended

 private:
  std::size_t max_line_bytes_;
  std::string partial_;
};

}  // namespace berth
