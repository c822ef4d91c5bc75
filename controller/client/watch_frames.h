// SPDX-License-Identifier: Apache-2.0
// WatchFrames: splits a watch stream into its events, however the bytes were cut on the way: lines
// of JSON, or protobuf messages with their length in four bytes before them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "apis/encoding.h"

namespace berth {

inline constexpr std::size_t kMaxWatchEventBytes = 4u << 20;

class WatchFrames {
 public:
  explicit WatchFrames(std::size_t max_event_bytes = kMaxWatchEventBytes)
      : max_event_bytes_(max_event_bytes) {}

  void set_encoding(Encoding encoding) { encoding_ = encoding; }  // before the first feed(); JSON

  // Calls on_event for each event that the bytes complete, without its newline or length; empty
  // lines are skipped. The string is the reader's to change until on_event returns. False: an event
  // is larger than the limit, and the stream is of no further use. on_event may return false to
  // stop: nothing more is handed out.
  using OnEvent = std::function<bool(std::string&)>;
  bool feed(std::string_view bytes, const OnEvent& on_event) {
    return encoding_ == Encoding::kJson ? feed_lines(bytes, on_event)
                                        : feed_messages(bytes, on_event);
  }

  // Of an event that has not ended.
  std::size_t partial_bytes() const { return length_.size() + partial_.size(); }

 private:
  bool feed_lines(std::string_view bytes, const OnEvent& on_event);
  bool feed_messages(std::string_view bytes, const OnEvent& on_event);

  std::size_t max_event_bytes_;
  Encoding encoding_ = Encoding::kJson;
  std::string length_;   // of a message, as far as it has come
  std::string partial_;  // the event, as far as it has come
};

}  // namespace berth
