// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1. Boost.Beast parses requests. A request is accepted or refused by its head, before its
// body is read. Pipelined requests are answered one after the other.
#include <fmt/compile.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <iterator>
#include <memory>

#include "controller/server/http_feed.h"
#include "controller/server/http_protocol.h"

namespace berth {
namespace {

namespace http = boost::beast::http;

void put_response(const HttpResponse& response, bool head_only, bool last, std::string& out) {
  const auto reason = http::obsolete_reason(static_cast<http::status>(response.status));
  fmt::format_to(std::back_inserter(out), FMT_COMPILE("HTTP/1.1 {} {}\r\ncontent-type: {}\r\n"),
                 response.status, std::string_view(reason.data(), reason.size()),
                 response.content_type);
  // A feed ends with its connection, so its length is unknown. A 304 has no body.
  if (response.feed == nullptr && response.status != 304)
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("content-length: {}\r\n"),
                   response.body.size());
  out += response.head;
  out += last ? "connection: close\r\n\r\n" : "\r\n";
  if (!head_only) out += response.body;
}

// A body that allocates as it arrives. http::string_body allocates the announced length at once.
struct ArrivingBody {
  using value_type = std::string;
  class reader {
   public:
    template <bool is_request, class Fields>
    reader(http::header<is_request, Fields>&, std::string& body) : body_(body) {}
    void init(const boost::optional<std::uint64_t>& length, boost::beast::error_code& error) {
      error = {};
      body_.reserve(std::min<std::uint64_t>(length.value_or(0), kSmallBody));
    }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, boost::beast::error_code& error) {
      error = {};
      const std::size_t before = body_.size();
      for (const boost::asio::const_buffer piece : boost::beast::buffers_range_ref(buffers))
        body_.append(static_cast<const char*>(piece.data()), piece.size());
      return body_.size() - before;
    }
    void finish(boost::beast::error_code& error) { error = {}; }

   private:
    std::string& body_;
  };
};

class Http1 final : public HttpProtocol {
 public:
  explicit Http1(const HttpService& service) : service_(service) {}

  void take(std::string_view bytes, std::uint64_t now_ms, std::string& out) override {
    now_ms_ = now_ms;
    if (feed_ != nullptr) return go_on_feeding(out);
    if (asked_ms_) {
      waiting_ += bytes;
      answer(out);
      if (asked_ms_) return;
      return read_waiting(out);
    }
    if (!bytes.empty()) heard_ms_ = now_ms;
    if (request_ && request_->place != nullptr && request_->place->lost())
      refuse(service_.refusal(429), out);
    else if (request_ && service_.stands_still(heard_ms_, now_ms))
      refuse(service_.refusal(408), out);
    if (waiting_.empty()) {
      waiting_ = read(bytes, out);
      return;
    }
    waiting_ += bytes;
    read_waiting(out);
  }
  void resume(std::uint64_t now_ms, std::string& out) override { take({}, now_ms, out); }
  bool over() const override { return over_; }
  std::optional<std::uint64_t> busy_since_ms() const override {
    return request_ ? std::optional(request_->began_ms) : std::nullopt;
  }
  std::optional<std::uint64_t> answered_ms() const override { return answered_ms_; }

 private:
  struct Request {
    Request(std::uint64_t now_ms, int header_bytes) : began_ms(now_ms) {
      parser.header_limit(static_cast<std::uint32_t>(header_bytes));
      parser.body_limit(boost::none);  // admit() decides by the head
    }
    const std::uint64_t began_ms;
    std::unique_ptr<PostRoom::Place> place;  // freed after the body
    std::size_t held_bytes = 0;              // of the body
    http::request_parser<ArrivingBody> parser;
  };

  void read_waiting(std::string& out) {
    const std::size_t left = read(waiting_, out).size();
    waiting_.erase(0, waiting_.size() - left);
  }

  // Returns the bytes that must wait: for the rest of a head, for the client to read its responses,
  // or for the answer to the previous request.
  std::string_view read(std::string_view bytes, std::string& out) {
    while (!over_ && feed_ == nullptr && !asked_ms_ && !bytes.empty() &&
           out.size() < kEnoughToSend) {
      if (!request_) request_.emplace(now_ms_, service_.limits.header_bytes);
      auto& parser = request_->parser;
      const bool had_head = parser.is_header_done();
      boost::beast::error_code error;
      bytes.remove_prefix(parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error));
      if (error == http::error::need_more) return bytes;
      if (error)
        refuse(service_.refusal(error == http::error::header_limit ? 431 : 400), out);
      else if (!had_head)
        judge_head(out);
      if (!over_) charge_body(out);
      if (!over_ && parser.is_done()) answer(out);
    }
    return over_ || feed_ != nullptr ? std::string_view() : bytes;
  }

  void judge_head(std::string& out) {
    const auto& parser = request_->parser;
    const auto& head = parser.get();
    const boost::optional<std::uint64_t> said = parser.content_length();
    // No client of berth sends a body of unknown length. Two different lengths or hosts in one
    // request are a known attack on proxies.
    if (head.count(http::field::transfer_encoding) > 0)
      return refuse(service_.refusal(said ? 400 : only_chunked(head) ? 411 : 501), out);
    const std::size_t hosts = head.count(http::field::host);
    if (hosts > 1 || (head.version() == 11 && hosts == 0))
      return refuse(service_.refusal(400), out);
    const auto method = head.method_string();
    const std::optional<std::uint64_t> length = said ? std::optional(*said) : std::nullopt;
    // Other connections may call it during their turn.
    const auto on_lost = [this] { std::string().swap(request_->parser.get().body()); };
    if (auto refusal =
            service_.admit({method.data(), method.size()}, length, on_lost, request_->place))
      return refuse(*refusal, out);
    if (!parser.is_done() && boost::beast::iequals(head[http::field::expect], "100-continue"))
      out += "HTTP/1.1 100 Continue\r\n\r\n";
  }

  static bool only_chunked(const http::fields& head) {
    return head.count(http::field::transfer_encoding) == 1 &&
           boost::beast::iequals(head[http::field::transfer_encoding], "chunked");
  }

  void charge_body(std::string& out) {
    const std::size_t now = request_->parser.get().body().size(), before = request_->held_bytes;
    request_->held_bytes = now;
    if (request_->place != nullptr && !request_->place->hold(now - before))
      refuse(service_.refusal(429), out);
  }

  // Later bytes can't be distinguished from the body that was not read.
  void refuse(const HttpResponse& response, std::string& out) {
    over_ = true;
    put_response(response, false, true, out);
    request_.reset();
  }

  void answer(std::string& out) {
    const auto& request = request_->parser.get();
    const auto text = [](auto view) { return std::string_view(view.data(), view.size()); };
    HttpCall call{.method = text(request.method_string()),
                  .content_type = text(request[http::field::content_type]),
                  .body = request.body(),
                  .host = text(request[http::field::host]),
                  .accept_encoding = text(request[http::field::accept_encoding]),
                  .if_none_match = text(request[http::field::if_none_match]),
                  .last_event_id = text(request["last-event-id"]),
                  .authorization = text(request[http::field::authorization])};
    set_target(call, text(request.target()));
    HttpResponse response = service_.handler(call);
    if (response.again && may_wait()) return;
    asked_ms_.reset();
    answered_ms_ = now_ms_;
    const bool head_only = call.method == "HEAD";
    over_ = service_.draining || !request.keep_alive() || request.version() < 11 ||
            response.feed != nullptr;
    put_response(response, head_only, over_, out);
    request_.reset();
    if (head_only || response.feed == nullptr) return;
    feed_ = std::move(response.feed);
    go_on_feeding(out);
  }

  // Waits for a final answer. A client that sends much more meanwhile can't wait.
  bool may_wait() {
    if (!asked_ms_) asked_ms_ = now_ms_;
    return !service_.draining && waiting_.size() < kEnoughToSend &&
           !service_.stands_still(*asked_ms_, now_ms_);
  }

  // Only when the client has read everything, so that a slow client gets the newest state. All
  // other input is ignored.
  void go_on_feeding(std::string& out) {
    answered_ms_ = now_ms_;
    over_ = service_.draining || feed_->over();
    if (over_) return;
    feed_->next(out);
    over_ = feed_->over();
  }

  const HttpService& service_;
  std::optional<Request> request_;
  std::shared_ptr<HttpFeed> feed_;  // not null: only the feed still sends output
  std::string waiting_;
  std::uint64_t now_ms_ = 0;
  std::uint64_t heard_ms_ = 0;
  std::optional<std::uint64_t> asked_ms_;  // since when request_ has waited for a final answer
  std::optional<std::uint64_t> answered_ms_;
  bool over_ = false;
};

}  // namespace

std::unique_ptr<HttpProtocol> speak_http1(const HttpService& service) {
  return std::make_unique<Http1>(service);
}

}  // namespace berth
