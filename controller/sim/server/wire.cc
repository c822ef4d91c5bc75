// SPDX-License-Identifier: Apache-2.0
// Outline: start() decides an exchange's fate. An Exchange is one request and its reply, a Stream
// one watch. Both live on the network's loop and reach the process only through its own queue. So
// nothing arrives at a frozen process.
#include "controller/sim/server/wire.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <utility>

namespace berth::sim {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::nanoseconds kFastest = 500us;
constexpr std::chrono::nanoseconds kSlowest = 4ms;

std::string content_type_of(const HttpRequest& request) {
  for (const HttpHeader& header : request.headers)
    if (header.name == "content-type" || header.name == "Content-Type") return header.value;
  return "";
}

std::chrono::seconds timeout_of(const std::string& target) {
  constexpr std::string_view kName = "timeoutSeconds=";
  const std::size_t at = target.find(kName);
  int given = 0;
  if (at != std::string::npos)
    std::from_chars(target.data() + at + kName.size(), target.data() + target.size(), given);
  return std::chrono::seconds(given > 0 ? given : 1800);  // the server's default
}

// An admission policy refuses permanently; the other codes are temporary.
std::string refusal(int code) {
  if (code == 403)
    return R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":)"
           R"("ValidatingAdmissionPolicy 'platform' with binding 'platform' denied request: )"
           R"(ask the platform team","code":403})";
  return R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":")" +
         std::string(code == 429   ? "TooManyRequests"
                     : code == 503 ? "ServiceUnavailable"
                     : code == 504 ? "Timeout"
                                   : "InternalError") +
         R"(","message":"injected","code":)" + std::to_string(code) + "}";
}

std::string http_date(WallTime time) {
  return fmt::format("{:%a, %d %b %Y %T} GMT", std::chrono::floor<std::chrono::seconds>(time));
}

std::vector<HttpHeader> headers_of(const ApiReply& reply) {
  std::vector<HttpHeader> headers{{"content-type", "application/json"}};
  for (const auto& [name, value] : reply.headers) headers.push_back({name, value});
  return headers;
}

}  // namespace

// Common to both kinds of exchange: a sink that gets one end, a deadline, a stop token.
struct Wire::Exchange : std::enable_shared_from_this<Wire::Exchange> {
  Exchange(Wire& on, HttpRequest asked, std::shared_ptr<ResponseSink> to)
      : wire(&on),
        process(on.process_),
        network(on.network_),
        server(on.server_),
        request(std::move(asked)),
        sink(std::move(to)),
        call{on.user_, request.method, request.target, content_type_of(request), request.body} {}
  virtual ~Exchange() = default;

  void watch_over(std::stop_token stop) {
    if (request.deadline > 0ms)
      deadline = process.call_after(request.deadline, [self = weak_from_this()] {
        if (const auto e = self.lock()) e->finish(TransportOutcome::kTimeout);
      });
    on_stop.emplace(std::move(stop), std::function<void()>([self = weak_from_this()] {
                      if (const auto e = self.lock()) e->finish(TransportOutcome::kCancelled);
                    }));
  }
  // Only the first end counts. Posted work delivers it.
  void finish(TransportOutcome outcome) {
    if (std::exchange(done, true) || wire == nullptr) return;
    process.cancel(deadline);
    close();
    process.post([self = shared_from_this(), outcome] {
      self->on_stop.reset();
      self->sink->on_end(outcome, outcome == TransportOutcome::kComplete ? "" : "simulated");
    });
  }
  void tell(ApiReply reply) {
    if (done || wire == nullptr) return;
    const std::size_t cut_at = wire->random_.below(reply.body.size() + 1);
    process.post([self = shared_from_this(), reply = std::move(reply), cut_at] {
      if (self->done) return;
      self->sink->on_head(reply.code, headers_of(reply));
      const std::string& body = reply.body;
      if (cut_at > 0) self->sink->on_bytes({body.data(), cut_at});
      if (cut_at < body.size()) self->sink->on_bytes({body.data() + cut_at, body.size() - cut_at});
      self->finish(TransportOutcome::kComplete);
    });
  }
  virtual void close() {}

  Wire* wire;  // null once the wire is gone; the request may still be in flight
  VirtualLoop& process;
  VirtualLoop& network;
  ApiServer& server;
  HttpRequest request;
  std::shared_ptr<ResponseSink> sink;
  ApiCall call;
  bool done = false;
  Loop::TimerId deadline = 0;
  std::optional<std::stop_callback<std::function<void()>>> on_stop;
};

struct Wire::Stream : Wire::Exchange {
  using Exchange::Exchange;
  void close() override {
    network.cancel(timeout);
    // Not from inside the watch's own call.
    network.post([gone = std::move(watch)] {});
  }
  // Frames keep their order: none overtakes a late one.
  void queue(std::string frame, std::chrono::nanoseconds delay) {
    const MonotonicTime due =
        std::max(network.now() + delay, frames.empty() ? 0ns : frames.back().first);
    frames.emplace_back(due, std::move(frame));
    if (frames.size() == 1) arm();
  }
  void arm() {
    network.call_after(frames.front().first - network.now(), [self = weak_from_this()] {
      if (const auto e = self.lock()) static_cast<Stream*>(e.get())->arrive();
    });
  }
  void arrive() {
    std::string bytes;
    for (; !frames.empty() && frames.front().first <= network.now(); frames.pop_front())
      if (bytes.empty())
        bytes = std::move(frames.front().second);
      else
        bytes += frames.front().second;
    if (!frames.empty()) arm();
    if (done || wire == nullptr) return;
    const std::size_t cut_at = wire->random_.below(bytes.size());
    const bool last = ended && frames.empty();
    process.post([self = shared_from_this(), bytes = std::move(bytes), cut_at, last] {
      if (self->done) return;
      static_cast<Stream*>(self.get())->heard_at = self->process.now();
      const std::string_view all = bytes;
      if (cut_at > 0) self->sink->on_bytes(all.substr(0, cut_at));
      self->sink->on_bytes(all.substr(cut_at));
      if (last) self->finish(TransportOutcome::kComplete);
    });
  }
  void guard_silence() {
    if (request.idle_timeout <= 0ms) return;
    const auto left = heard_at + request.idle_timeout - process.now();
    if (left <= 0ns) return finish(TransportOutcome::kTimeout);
    process.call_after(left, [self = weak_from_this()] {
      if (const auto e = self.lock()) static_cast<Stream*>(e.get())->guard_silence();
    });
  }

  std::shared_ptr<Watch> watch;
  std::deque<std::pair<MonotonicTime, std::string>> frames;
  Loop::TimerId timeout = 0;
  MonotonicTime heard_at{0};
  bool ended = false;  // by the server, after the frames in flight
};

Wire::Wire(VirtualLoop& process, VirtualLoop& network, ApiServer& server, std::string user,
           Random random)
    : process_(process),
      network_(network),
      server_(server),
      user_(std::move(user)),
      random_(random) {}

Wire::~Wire() {
  for (const auto& weak : exchanges_)
    if (const auto exchange = weak.lock()) exchange->wire = nullptr;
}

std::chrono::nanoseconds Wire::one_way() { return random_.between(kFastest, kSlowest); }

void Wire::start(HttpRequest request, std::shared_ptr<ResponseSink> sink, std::stop_token stop) {
  std::erase_if(exchanges_, [](const auto& weak) { return weak.expired(); });
  const bool is_watch = ApiServer::is_watch({.user = "",
                                             .method = request.method,
                                             .target = request.target,
                                             .content_type = "",
                                             .body = ""});
  const auto exchange =
      is_watch ? std::make_shared<Stream>(*this, std::move(request), std::move(sink))
               : std::make_shared<Exchange>(*this, std::move(request), std::move(sink));
  exchanges_.push_back(exchange);
  exchange->watch_over(std::move(stop));
  ExchangeFault fault;
  if (!cut_ && faults.on_request) fault = faults.on_request(exchange->request);
  if (cut_ || fault.fate == ExchangeFate::kNotSent)
    return exchange->finish(TransportOutcome::kBroken);
  if (is_watch) return open(std::static_pointer_cast<Stream>(exchange), fault);
  send(exchange, fault);
}

void Wire::send(const std::shared_ptr<Exchange>& exchange, const ExchangeFault& fault) {
  if (fault.fate == ExchangeFate::kAppliedLate) exchange->finish(TransportOutcome::kBroken);
  network_.call_after(one_way() + fault.delay, [exchange, fault, back = one_way()] {
    ApiReply reply{.code = fault.code, .body = "", .headers = {}};
    if (fault.fate == ExchangeFate::kRefused) {
      reply.body = refusal(fault.code);
      if (fault.retry_after_s > 0)
        reply.headers.emplace_back("Retry-After", std::to_string(fault.retry_after_s));
    } else {
      reply = exchange->server.call(exchange->call);
    }
    reply.headers.emplace_back("Date", http_date(exchange->network.wall_now()));
    const auto still_there = [&] { return exchange->wire != nullptr && !exchange->wire->cut_; };
    if (still_there() && exchange->wire->faults.on_applied)
      exchange->wire->faults.on_applied(exchange->request, reply.code);
    if (fault.fate == ExchangeFate::kReplyLost) exchange->finish(TransportOutcome::kBroken);
    exchange->network.call_after(back, [exchange, reply = std::move(reply)]() mutable {
      if (exchange->wire == nullptr || exchange->wire->cut_ || exchange->done) return;
      const int code = reply.code;
      exchange->tell(std::move(reply));
      if (exchange->wire->faults.on_reply) exchange->wire->faults.on_reply(exchange->request, code);
    });
  });
}

void Wire::open(const std::shared_ptr<Stream>& stream, const ExchangeFault& fault) {
  network_.call_after(one_way() + fault.delay, [stream, fault] {
    if (stream->done || stream->wire == nullptr) return;
    if (fault.fate == ExchangeFate::kRefused)
      return stream->tell({.code = fault.code, .body = refusal(fault.code), .headers = {}});
    WatchSink sink{
        .on_frame =
            [weak = std::weak_ptr(stream)](std::string frame, std::int64_t, const Change* change) {
              if (const auto s = weak.lock(); s && s->wire)
                s->wire->on_frame(*s, std::move(frame), change);
            },
        .on_end =
            [weak = std::weak_ptr(stream)] {
              const auto s = weak.lock();
              if (s == nullptr) return;
              s->ended = true;
              if (s->frames.empty()) s->finish(TransportOutcome::kComplete);
            }};
    ApiReply refused;
    stream->watch = stream->server.watch(stream->call, std::move(sink), refused);
    if (stream->watch == nullptr) return stream->tell(refused);
    stream->heard_at = stream->network.now();
    // Before the first frame, which takes some time to arrive.
    stream->process.post([stream] {
      if (!stream->done) stream->sink->on_head(200, {{"content-type", "application/json"}});
    });
    stream->timeout = stream->network.call_after(timeout_of(stream->request.target), [stream] {
      stream->finish(TransportOutcome::kComplete);
    });
    stream->guard_silence();
  });
}

void Wire::on_frame(Stream& stream, std::string frame, const Change* change) {
  if (stream.done || cut_) return;
  const FrameFault fault =
      change != nullptr && faults.on_frame ? faults.on_frame(*change) : FrameFault{};
  if (stream.done || cut_) return;  // the hook may have stopped the process
  if (fault.fate == FrameFate::kLost) {
    network_.post(
        [&server = server_, revision = change->revision] { server.store().compact(revision); });
    return stream.finish(TransportOutcome::kBroken);
  }
  stream.queue(std::move(frame), one_way() + lag_ + fault.delay);
}

void Wire::cut() {
  cut_ = true;
  for (const auto& weak : std::vector(exchanges_))
    if (const auto exchange = weak.lock()) exchange->finish(TransportOutcome::kBroken);
}

void Wire::end_watches() {
  for (const auto& weak : std::vector(exchanges_)) {
    const auto exchange = weak.lock();
    if (dynamic_cast<Stream*>(exchange.get()) != nullptr)
      exchange->finish(TransportOutcome::kComplete);
  }
}

}  // namespace berth::sim
