// SPDX-License-Identifier: Apache-2.0
// WatchFrames: splits the bytes of a watch stream into events: lines of JSON, or protobuf messages
// with their length in four bytes before them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "apis/codec/encoding.h"

namespace berth {

inline constexpr std::size_t kMaxWatchEventBytes = 4u << 20;

class WatchFrames {
 public:
  explicit WatchFrames(std::size_t max_event_bytes = kMaxWatchEventBytes)
      : max_event_bytes_(max_event_bytes) {}

  // before the first feed(); default: JSON
  void set_encoding(Encoding encoding) { encoding_ = encoding; }

  // Calls on_event for each event that the bytes complete, without its newline or length. Skips
  // empty lines. on_event may change the string until it returns, and returns false to stop. feed()
  // returns false if an event is larger than the limit; the stream is then unusable.
  using OnEvent = std::function<bool(std::string&)>;
  bool feed(std::string_view bytes, const OnEvent& on_event) {
    return encoding_ == Encoding::kJson ? feed_lines(bytes, on_event)
                                        : feed_messages(bytes, on_event);
  }

  // Bytes of the incomplete event.
  std::size_t partial_bytes() const { return length_.size() + partial_.size(); }

 private:
  bool feed_lines(std::string_view bytes, const OnEvent& on_event);
  bool feed_messages(std::string_view bytes, const OnEvent& on_event);

  std::size_t max_event_bytes_;
  Encoding encoding_ = Encoding::kJson;
  std::string length_;   // the part of a message's length that has arrived
  std::string partial_;  // the part of the event that has arrived
};

}  // namespace berth
