// SPDX-License-Identifier: Apache-2.0
#include "controller/client/api_client.h"

#include <algorithm>

#include "controller/client/transport_error.h"

namespace berth {
namespace {

constexpr int kMaxTries = 10;
constexpr int kMaxConnects = 3;
constexpr std::chrono::milliseconds kReconnectDelay{200};
constexpr std::chrono::milliseconds kMaxRetryAfter{60'000};
constexpr char kProtobufOrJson[] = "application/vnd.kubernetes.protobuf,application/json";
constexpr std::size_t kMaxRememberedWarnings = 1'000;
constexpr std::chrono::nanoseconds kLongWait = std::chrono::seconds(1);  // longer waits are logged

template <class Exchange>
class CollectingSink : public ResponseSink {
 public:
  explicit CollectingSink(Loop& loop) : handoff_(loop) {}
  void on_head(int status, const std::vector<HttpHeader>& headers) override {
    exchange_.status = status;
    exchange_.headers = headers;
  }
  void on_bytes(std::string_view bytes) override { exchange_.body += bytes; }
  void on_end(TransportOutcome outcome, std::string detail) override {
    exchange_.outcome = outcome;
    exchange_.detail = std::move(detail);
    handoff_.set(std::move(exchange_));
  }
  Handoff<Exchange>& handoff() { return handoff_; }

 private:
  Exchange exchange_;
  Handoff<Exchange> handoff_;
};

const char* limiting_flag(Traffic traffic) {
  return traffic == Traffic::kActing ? "--kube-api-qps" : "--kube-api-status-qps";
}

// "PATCH /api/v1/nodes/n1", without the query.
std::string name_of(const ApiRequest& request) {
  return request.method + " " + request.target.substr(0, request.target.find('?'));
}

// The wait before a GET's next try; nullopt: the error is final.
using Delay = std::optional<std::chrono::milliseconds>;
Delay retry_delay(TransportOutcome outcome, const Error& error, int tries) {
  if (outcome == TransportOutcome::kCannotConnect || outcome == TransportOutcome::kBroken) {
    if (tries >= kMaxConnects) return std::nullopt;
    return kReconnectDelay * tries;
  }
  // The server has already waited three seconds for that version; the caller can do without it.
  if (is_version_too_large(error)) return std::nullopt;
  const bool busy = error.http_code == 429 || error.http_code >= 500;
  if (!busy || tries >= kMaxTries || !error.retry_after) return std::nullopt;
  return std::clamp<std::chrono::milliseconds>(*error.retry_after, kReconnectDelay, kMaxRetryAfter);
}

}  // namespace

struct ApiClient::Exchange {
  TransportOutcome outcome = TransportOutcome::kComplete;
  std::string detail;
  int status = 0;
  std::vector<HttpHeader> headers;
  std::string body;
};

ApiClient::ApiClient(Loop& loop, Transport& transport, Log& log, Identity identity)
    : loop_(loop),
      transport_(transport),
      log_(log),
      user_agent_("berth/" + identity.version + " (" + identity.component + ")") {}

Task<Result<Reply>> ApiClient::send(ApiRequest request, CallOptions options) {
  // Leases are not repeated: a late renewal is worse than a failed one, and leader election has its
  // own retries.
  const bool may_repeat = request.repeatable && options.lane != Lane::kLease;
  const MonotonicTime end = loop_.now() + options.deadline;
  for (int tries = 1;; ++tries) {
    Exchange exchange = co_await exchange_once(request, options);
    const TransportOutcome outcome = exchange.outcome;
    Result<Reply> reply = read_exchange(request, std::move(exchange));
    if (reply.has_value()) {
      log_new_warnings(reply->warnings);
      co_return reply;
    }
    const Delay delay = retry_delay(outcome, reply.error(), tries);
    if (!may_repeat || !delay || loop_.now() + *delay >= end) co_return reply;
    const bool slept = co_await sleep_for(*delay, options.stop);
    if (!slept) co_return reply;
    options.deadline = std::chrono::ceil<std::chrono::milliseconds>(end - loop_.now());
  }
}

Task<ApiClient::Exchange> ApiClient::exchange_once(ApiRequest request, CallOptions options) {
  Exchange none;
  if (bucket_of(options.traffic) && options.lane != Lane::kLease) {
    options.deadline = co_await wait_for_token(name_of(request), options);
    none.detail = std::string("not sent: berth's own rate limit (") +
                  limiting_flag(options.traffic) + ") left no time for it";
  }
  if (options.stop.stop_requested()) {
    none.outcome = TransportOutcome::kCancelled;
    none.detail.clear();
    co_return none;
  }
  if (options.deadline.count() <= 0) {  // the transport reads zero as no deadline
    none.outcome = TransportOutcome::kTimeout;
    co_return none;
  }
  HttpRequest http;
  http.lane = options.lane;
  http.method = request.method;
  http.headers = headers(request);
  http.target = std::move(request.target);
  http.body = std::move(request.body);
  http.deadline = options.deadline;
  http.max_body_bytes = request.max_reply_bytes;

  const MonotonicTime started = loop_.now();
  auto sink = std::make_shared<CollectingSink<Exchange>>(loop_);
  transport_.start(std::move(http), sink, options.stop);
  Exchange exchange = co_await sink->handoff().wait();
  if (clock_ != nullptr)
    if (const auto date = find_header(exchange.headers, "date")) clock_->hear(*date);
  if (observer_) {
    observer_({request.method, options.lane, exchange.status, loop_.now() - started});
  }
  co_return exchange;
}

// The rest of the deadline once the token is there; zero if the token would come too late.
Task<std::chrono::milliseconds> ApiClient::wait_for_token(std::string what, CallOptions options) {
  const MonotonicTime start = loop_.now();
  const std::optional<std::chrono::nanoseconds> wait =
      bucket_of(options.traffic)->take_within(options.deadline, start);
  if (!wait) co_return std::chrono::milliseconds(0);
  if (wait->count() > 0) co_await sleep_for(*wait, options.stop);
  if (*wait >= kLongWait)
    log_.info("waited for berth's own rate limit",
              {{"request", what}, {"waited", format_duration(std::chrono::ceil<Duration>(*wait))}});
  co_return std::chrono::floor<std::chrono::milliseconds>(start + options.deadline - loop_.now());
}

Result<Reply> ApiClient::read_exchange(const ApiRequest& request, Exchange exchange) {
  if (exchange.outcome != TransportOutcome::kComplete) {
    Error error = transport_error(exchange.outcome, std::move(exchange.detail));
    error.where = name_of(request);
    return error;
  }
  if (exchange.status < 200 || exchange.status > 299) {
    Error error = decode_status(exchange.status, exchange.body);
    if (error.where.empty()) error.where = name_of(request);
    if (!error.retry_after) error.retry_after = parse_retry_after(exchange.headers);
    return error;
  }
  Reply reply;
  reply.http_code = exchange.status;
  // a page of a list reports its version itself
  if (encoding_of(exchange.headers) == Encoding::kJson)
    reply.resource_version = scan_resource_version(exchange.body);
  reply.warnings = parse_warnings(exchange.headers);
  reply.body = std::move(exchange.body);
  return reply;
}

void ApiClient::open_stream(ApiRequest request, const WatchOptions& watch,
                            std::shared_ptr<WatchHandler> handler, std::stop_token stop) {
  HttpRequest http;
  http.lane = Lane::kWatch;
  http.method = std::move(request.method);
  http.target = std::move(request.target);
  http.headers = headers(request);
  http.idle_timeout = watch.timeout + watch.idle_grace;
  http.max_body_bytes = 0;  // WatchFrames limits each event
  auto stream = std::make_shared<WatchStream>(std::move(handler), std::move(stop));
  const std::stop_token transport_stop = stream->transport_stop();
  transport_.start(std::move(http), std::move(stream), transport_stop);
}

std::vector<HttpHeader> ApiClient::headers(const ApiRequest& request) const {
  const bool protobuf = request.encoding == Encoding::kProtobuf;
  std::vector<HttpHeader> headers = {
      {"User-Agent", user_agent_}, {"Accept", protobuf ? kProtobufOrJson : std::string(kJsonType)}};
  if (!request.impersonate.empty()) headers.push_back({"Impersonate-User", request.impersonate});
  if (!request.content_type.empty()) headers.push_back({"Content-Type", request.content_type});
  return headers;
}

void ApiClient::log_new_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    if (warned_.size() >= kMaxRememberedWarnings) warned_.clear();
    if (!warned_.insert(warning).second) continue;
    log_.warn("the API server warns", {{"warning", warning}});
  }
}

}  // namespace berth
