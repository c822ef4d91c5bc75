// SPDX-License-Identifier: Apache-2.0
// ApiClient: Kubernetes' verbs as coroutines over a Transport. Loop thread only. It must outlive
// every task that it returns. Each task ends within its deadline, or soon after a stop request.
//
// With g++ 12, name aggregates before an awaited call: `ObjectKey key{…}; co_await
// client.get<Node>(key, options)`.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apis/base/result.h"
#include "apis/codec/decode.h"
#include "apis/kinds/meta.h"
#include "controller/client/api_request.h"
#include "controller/client/reply.h"
#include "controller/client/resource_path.h"
#include "controller/client/server_clock.h"
#include "controller/client/token_bucket.h"
#include "controller/client/watch_stream.h"
#include "controller/io/log.h"
#include "controller/io/loop.h"
#include "controller/io/permits.h"
#include "controller/io/task.h"
#include "controller/io/transport.h"

namespace berth {

// The purpose of a request. Each purpose has its own rate limit, so that many reports can't delay a
// write that acts.
enum class Traffic {
  kActing,     // writes that change workloads or nodes, and the reads that they depend on
  kReporting,  // statuses and events
};

// Has constructors, so that it can be a temporary in an awaited call.
struct CallOptions {
  Lane lane = Lane::kWrite;
  Traffic traffic = Traffic::kActing;
  std::chrono::milliseconds deadline{30'000};  // for all tries together
  std::stop_token stop;

  CallOptions() {}
  explicit CallOptions(std::stop_token stop_token) : stop(std::move(stop_token)) {}
  CallOptions(Lane on, std::stop_token stop_token,
              std::chrono::milliseconds within = std::chrono::seconds(30))
      : lane(on), deadline(within), stop(std::move(stop_token)) {}
};

// One finished exchange, for metrics. `code` is 0 when there was no reply.
struct CallRecord {
  std::string_view method;
  Lane lane;
  int code;
  std::chrono::nanoseconds took;
};

class ApiClient {
 public:
  struct Identity {
    std::string version;    // of berth
    std::string component;  // "controller", "plan", "leader-election"
  };
  ApiClient(Loop& loop, Transport& transport, Log& log, Identity identity);

  template <class T>
  Task<Result<T>> get(ObjectKey key, CallOptions options) {
    ApiRequest request = get_request(object_path(kKind<T>, key));
    Result<Reply> reply = co_await send(std::move(request), std::move(options));
    if (!reply.has_value()) co_return std::move(reply).error();
    co_return decode_object<T>(reply->body);
  }

  // One page; pass its continue_token to get the next one. kGone: the token has expired, so start
  // again without one. At most four pages are fetched at a time over all kinds: each page is in
  // memory as a whole, and dozens of kinds are listed at once when a server comes back.
  template <class T>
  Task<Result<ListPage<T>>> list_page(ListOptions list, CallOptions options) {
    ApiRequest request = list_request(kKind<T>, list);
    request.encoding = kPreferredEncoding<T>;
    const Permits::Permit permit = co_await pages_.acquire();
    Result<Reply> reply = co_await send(std::move(request), std::move(options));
    if (!reply.has_value()) co_return std::move(reply).error();
    const std::size_t bytes = reply->body.size();
    Result<ListPage<T>> page = decode_list<T>(reply->body);
    if (page.has_value()) page->bytes = bytes;
    co_return page;
  }

  // Repeats GETs within the deadline if ApiRequest::repeatable allows it; never repeats writes.
  Task<Result<Reply>> send(ApiRequest request, CallOptions options);

  // Opens a watch once and passes every event to the handler until on_end. The informer retries and
  // resumes.
  template <class T>
  void start_watch(const WatchOptions& watch, std::shared_ptr<WatchHandler> handler,
                   std::stop_token stop) {
    ApiRequest request = watch_request(kKind<T>, watch);
    request.encoding = kPreferredEncoding<T>;
    open_stream(std::move(request), watch, std::move(handler), std::move(stop));
  }

  Loop& loop() { return loop_; }
  // The clock that gets the date of every reply; null: none. Several clients may share one.
  void set_clock(ServerClock* clock) { clock_ = clock; }
  // UTC, by that clock if there is one.
  Time wall_now() { return clock_ != nullptr ? clock_->now() : loop_.wall_now(); }
  void observe(std::function<void(const CallRecord&)> observer) { observer_ = std::move(observer); }
  // From now on every try of this traffic takes a token first, within its deadline. Leases are
  // exempt, because a late renewal loses leadership. Watches are exempt, because each is one
  // request for minutes; client-go exempts them too.
  void limit(Traffic traffic, TokenBucket bucket) { bucket_of(traffic) = bucket; }

 private:
  static constexpr std::size_t kPagesAtOnce = 4;

  struct Exchange;  // one HTTP exchange with its reply
  Task<Exchange> exchange_once(ApiRequest request, CallOptions options);
  Task<std::chrono::milliseconds> wait_for_token(std::string what, CallOptions options);
  std::optional<TokenBucket>& bucket_of(Traffic traffic) {
    return buckets_[static_cast<std::size_t>(traffic)];
  }
  static Result<Reply> read_exchange(const ApiRequest& request, Exchange exchange);
  void open_stream(ApiRequest request, const WatchOptions& watch,
                   std::shared_ptr<WatchHandler> handler, std::stop_token stop);
  std::vector<HttpHeader> headers(const ApiRequest& request) const;
  void log_new_warnings(const std::vector<std::string>& warnings);

  Loop& loop_;
  Transport& transport_;
  Log& log_;
  std::string user_agent_;
  std::set<std::string> warned_;  // bounded; each text is logged once
  std::function<void(const CallRecord&)> observer_;
  ServerClock* clock_ = nullptr;
  std::array<std::optional<TokenBucket>, 2> buckets_;  // by traffic; absent: no limit
  Permits pages_{loop_, kPagesAtOnce};
};

}  // namespace berth
