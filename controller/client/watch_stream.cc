// SPDX-License-Identifier: Apache-2.0
#include "controller/client/watch_stream.h"

#include <utility>

#include "apis/codec/decode.h"
#include "controller/client/reply.h"
#include "controller/client/transport_error.h"

namespace berth {
namespace {

constexpr std::size_t kMaxRefusalBytes = 1u << 20;

}  // namespace

const char* to_string(WatchEnd::Reason reason) {
  switch (reason) {
    case WatchEnd::Reason::kClosed:
      return "Closed";
    case WatchEnd::Reason::kRefused:
      return "Refused";
    case WatchEnd::Reason::kBroken:
      return "Broken";
    case WatchEnd::Reason::kOversized:
      return "Oversized";
    case WatchEnd::Reason::kCancelled:
      return "Cancelled";
  }
  return "?";
}

WatchStream::WatchStream(std::shared_ptr<WatchHandler> handler, std::stop_token stop)
    : handler_(std::move(handler)),
      stop_(stop),
      forward_stop_(std::move(stop), [abort = abort_]() mutable { abort.request_stop(); }) {}

void WatchStream::on_head(int status, const std::vector<HttpHeader>& headers) {
  status_ = status;
  headers_ = headers;
  state_ = status == 200 ? State::kOpen : State::kRefused;
  encoding_ = encoding_of(headers);
  frames_.set_encoding(encoding_);
  if (state_ == State::kOpen && !stop_.stop_requested()) handler_->on_open();
}

void WatchStream::on_bytes(std::string_view bytes) {
  if (state_ == State::kRefused) {
    const std::size_t room = kMaxRefusalBytes - refusal_body_.size();
    refusal_body_ += bytes.substr(0, room);
  }
  if (state_ != State::kOpen || stop_.stop_requested()) return;
  const bool fits = frames_.feed(bytes, [this](std::string& event) {
    ++events_;
    handler_->on_event(event, encoding_);
    return !stop_.stop_requested();  // the handler may have requested a stop
  });
  if (fits) return;
  state_ = State::kOversized;
  abort_.request_stop();
}

void WatchStream::on_end(TransportOutcome outcome, std::string detail) {
  WatchEnd end = end_of(outcome, detail);
  end.events = events_;
  std::exchange(handler_, nullptr)->on_end(std::move(end));
}

WatchEnd WatchStream::end_of(TransportOutcome outcome, const std::string& detail) const {
  WatchEnd end;
  if (stop_.stop_requested()) {
    end.reason = WatchEnd::Reason::kCancelled;
    end.error = transport_error(TransportOutcome::kCancelled, "");
  } else if (state_ == State::kOversized) {
    end.reason = WatchEnd::Reason::kOversized;
    end.error = transport_error(TransportOutcome::kTooLarge, "a watch event is larger than 4 MiB");
  } else if (state_ == State::kRefused) {
    end.reason = WatchEnd::Reason::kRefused;
    end.error = decode_status(status_, refusal_body_);
    if (!end.error.retry_after) end.error.retry_after = parse_retry_after(headers_);
  } else if (outcome != TransportOutcome::kComplete) {
    end.reason = WatchEnd::Reason::kBroken;
    end.error = transport_error(outcome, detail);
  } else if (frames_.partial_bytes() > 0) {
    end.reason = WatchEnd::Reason::kBroken;
    end.error = transport_error(TransportOutcome::kBroken, "the stream ended inside an event");
  }
  return end;
}

}  // namespace berth
