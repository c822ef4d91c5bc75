// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1, requests parsed by Boost.Beast. A head is judged before its body is read; requests that
// come without waiting for responses are answered one after the other.
#include <fmt/compile.h>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <iterator>

#include "controller/server/http_protocol.h"

namespace berth {
namespace {

namespace http = boost::beast::http;

void put_response(const HttpResponse& response, bool head_only, bool last, std::string& out) {
  const auto reason = http::obsolete_reason(static_cast<http::status>(response.status));
  fmt::format_to(std::back_inserter(out),
                 FMT_COMPILE("HTTP/1.1 {} {}\r\ncontent-type: {}\r\ncontent-length: {}\r\n{}\r\n"),
                 response.status, std::string_view(reason.data(), reason.size()),
                 response.content_type, response.body.size(),
                 std::string_view(last ? "connection: close\r\n" : ""));
  if (!head_only) out += response.body;
}

class Http1 final : public HttpProtocol {
 public:
  explicit Http1(const HttpService& service) : service_(service) {}

  void take(std::string_view bytes, std::uint64_t now_ms, std::string& out) override {
    if (waiting_.empty()) {
      waiting_ = read(bytes, now_ms, out);
      return;
    }
    waiting_ += bytes;
    const std::size_t left = read(waiting_, now_ms, out).size();
    waiting_.erase(0, waiting_.size() - left);
  }
  void resume(std::uint64_t now_ms, std::string& out) override { take({}, now_ms, out); }
  void take_leave(std::string&) override {}  // said in each response's head
  bool over() const override { return over_; }
  std::optional<std::uint64_t> busy_since_ms() const override {
    return request_ ? std::optional(request_->began_ms) : std::nullopt;
  }

 private:
  struct Request {
    Request(std::uint64_t now_ms, int header_bytes) : began_ms(now_ms) {
      parser.header_limit(static_cast<std::uint32_t>(header_bytes));
      parser.body_limit(boost::none);  // judged by the head, in admit()
    }
    const std::uint64_t began_ms;
    http::request_parser<http::string_body> parser;
    PostRoom::Place place;
  };

  // Returns what has to wait: for the rest of a head, or for the client to take its responses.
  std::string_view read(std::string_view bytes, std::uint64_t now_ms, std::string& out) {
    while (!over_ && !bytes.empty() && out.size() < kEnoughToSend) {
      if (!request_) request_.emplace(now_ms, service_.limits.header_bytes);
      auto& parser = request_->parser;
      const bool had_head = parser.is_header_done();
      boost::beast::error_code error;
      bytes.remove_prefix(parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error));
      if (error == http::error::need_more) return bytes;
      if (error)
        refuse(service_.refusal(error == http::error::header_limit ? 431 : 400), out);
      else if (!had_head)
        judge_head(out);
      if (!over_ && parser.is_done()) answer(out);
    }
    return over_ ? std::string_view() : bytes;
  }

  void judge_head(std::string& out) {
    const auto& parser = request_->parser;
    const auto& head = parser.get();
    const boost::optional<std::uint64_t> said = parser.content_length();
    // A body of unknown length is nobody's that asks here, and the oldest trick against proxies.
    if (parser.chunked()) return refuse(service_.refusal(411), out);
    if (head.version() == 11 && head.count(http::field::host) == 0)
      return refuse(service_.refusal(400), out);
    const auto method = head.method_string();
    if (auto refusal = service_.admit({method.data(), method.size()},
                                      said ? std::optional(*said) : std::nullopt, request_->place))
      return refuse(*refusal, out);
    if (!parser.is_done() && boost::beast::iequals(head[http::field::expect], "100-continue"))
      out += "HTTP/1.1 100 Continue\r\n\r\n";
  }

  // What else comes can't be told from the body that was not read.
  void refuse(const HttpResponse& response, std::string& out) {
    over_ = true;
    put_response(response, false, true, out);
    request_.reset();
  }

  void answer(std::string& out) {
    const auto& request = request_->parser.get();
    const auto method = request.method_string(), target = request.target();
    const auto type = request[http::field::content_type];
    HttpCall call{.method = {method.data(), method.size()},
                  .content_type = {type.data(), type.size()},
                  .body = request.body()};
    set_target(call, {target.data(), target.size()});
    const HttpResponse response = service_.handler(call);
    over_ = service_.draining || !request.keep_alive() || request.version() < 11;
    put_response(response, call.method == "HEAD", over_, out);
    request_.reset();
  }

  const HttpService& service_;
  std::optional<Request> request_;
  std::string waiting_;
  bool over_ = false;
};

}  // namespace

std::unique_ptr<HttpProtocol> speak_http1(const HttpService& service) {
  return std::make_unique<Http1>(service);
}

}  // namespace berth
