// SPDX-License-Identifier: Apache-2.0
// WatchStream: one watch request, from the transport's bytes to whole events and a typed end. The
// informer's state machine decides what events and ends mean.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "apis/base/result.h"
#include "controller/client/watch_frames.h"
#include "controller/io/transport.h"

namespace berth {

struct WatchEnd {
  enum class Reason {
    kClosed,  // the server ended a healthy stream; error is unset
    kRefused,  // a reply other than 200: the error is its Status (kGone, kThrottled, kForbidden, …)
    kBroken,     // no connection, a reset, a TLS failure, or silence for too long
    kOversized,  // an event over the limit
    kCancelled,  // stop was requested
  };
  Reason reason = Reason::kClosed;
  Error error;               // for kRefused, kBroken and kOversized
  std::uint64_t events = 0;  // passed to the handler
};
const char* to_string(WatchEnd::Reason reason);

class WatchHandler {
 public:
  virtual ~WatchHandler() = default;
  // The API server replied 200: the watch is open. If the server refuses it, nothing calls this.
  virtual void on_open() {}
  // One event, ready for decode_watch_event(), which may grow the string.
  virtual void on_event(std::string& event, Encoding encoding) = 0;
  // Called once, as the last call.
  virtual void on_end(WatchEnd end) = 0;
};

class WatchStream : public ResponseSink {
 public:
  WatchStream(std::shared_ptr<WatchHandler> handler, std::stop_token stop);

  void on_head(int status, const std::vector<HttpHeader>& headers) override;
  void on_bytes(std::string_view bytes) override;
  void on_end(TransportOutcome outcome, std::string detail) override;

  // The stop token for the transport. A stop by the caller requests it, and so does an event over
  // the limit.
  std::stop_token transport_stop() const { return abort_.get_token(); }

 private:
  enum class State { kWaiting, kOpen, kRefused, kOversized };
  WatchEnd end_of(TransportOutcome outcome, const std::string& detail) const;

  std::shared_ptr<WatchHandler> handler_;
  std::stop_token stop_;
  std::stop_source abort_;
  std::stop_callback<std::function<void()>> forward_stop_;
  State state_ = State::kWaiting;
  WatchFrames frames_;
  int status_ = 0;
  std::vector<HttpHeader> headers_;
  std::string refusal_body_;
  Encoding encoding_ = Encoding::kJson;
  std::uint64_t events_ = 0;
};

}  // namespace berth
