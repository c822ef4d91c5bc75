// SPDX-License-Identifier: Apache-2.0
#include "controller/sampling/http_get.h"

#include <fmt/format.h>

#include <utility>

namespace berth {
namespace {

struct Ended {
  TransportOutcome outcome = TransportOutcome::kComplete;
  int status = 0;
};

class StreamingSink : public ResponseSink {
 public:
  StreamingSink(Loop& loop, std::function<void(std::string_view)> on_bytes)
      : handoff_(loop), on_bytes_(std::move(on_bytes)) {}
  void on_head(int status, const std::vector<HttpHeader>&) override { ended_.status = status; }
  void on_bytes(std::string_view bytes) override {
    if (ended_.status == 200) on_bytes_(bytes);
  }
  void on_end(TransportOutcome outcome, std::string) override {
    ended_.outcome = outcome;
    handoff_.set(std::move(ended_));
  }
  Handoff<Ended>& handoff() { return handoff_; }

 private:
  Ended ended_;
  Handoff<Ended> handoff_;
  std::function<void(std::string_view)> on_bytes_;
};

ErrorKind kind_of(int status) {
  if (status == 401) return ErrorKind::kUnauthorized;
  if (status == 403) return ErrorKind::kForbidden;
  if (status == 429) return ErrorKind::kThrottled;
  return status == 502 || status == 503 || status == 504 ? ErrorKind::kUnavailable
                                                         : ErrorKind::kServer;
}

// Fixed texts: the transport's detail may contain the server's text, such as a name in its
// certificate.
Error failure_of(TransportOutcome outcome) {
  switch (outcome) {
    case TransportOutcome::kCannotConnect:
      return {.kind = ErrorKind::kUnavailable, .message = "can't be connected to"};
    case TransportOutcome::kTlsFailed:
      return {.kind = ErrorKind::kUnavailable, .message = "shows no certificate that is trusted"};
    case TransportOutcome::kTimeout:
      return {.kind = ErrorKind::kTimeout, .message = "does not answer in time"};
    case TransportOutcome::kTooLarge:
      return {.kind = ErrorKind::kDecode, .message = "answers with more than berth reads"};
    case TransportOutcome::kCancelled:
      return {.kind = ErrorKind::kCancelled, .message = "was not waited for"};
    case TransportOutcome::kComplete:
    case TransportOutcome::kBroken:
    case TransportOutcome::kNoCredentials:
      break;
  }
  return {.kind = ErrorKind::kUnavailable, .message = "breaks the connection off"};
}

}  // namespace

Task<Result<void>> http_get(Loop& loop, Transport& transport, GetRequest request,
                            std::function<void(std::string_view)> on_bytes, std::stop_token stop) {
  HttpRequest http;
  http.lane = Lane::kBulk;
  http.method = "GET";
  http.target = std::move(request.target);
  http.headers = std::move(request.headers);
  http.deadline = request.deadline;
  http.max_body_bytes = request.max_bytes;
  auto sink = std::make_shared<StreamingSink>(loop, std::move(on_bytes));
  transport.start(std::move(http), sink, stop);
  const Ended ended = co_await sink->handoff().wait();
  if (ended.outcome != TransportOutcome::kComplete) co_return failure_of(ended.outcome);
  if (ended.status == 200) co_return Result<void>();
  co_return Error{.kind = kind_of(ended.status),
                  .message = fmt::format("answers {}", ended.status),
                  .where = {},
                  .http_code = ended.status,
                  .reason = {},
                  .causes = {},
                  .retry_after = {}};
}

}  // namespace berth
