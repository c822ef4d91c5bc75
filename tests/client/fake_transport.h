// SPDX-License-Identifier: Apache-2.0
// FakeTransport: answers from a script, on a FakeLoop. Scripted replies are used in order, per
// "METHOD path" (without the query). An exchange without a reply stays open, and the test drives it
// through open(). Stop, deadline and idle timeout end exchanges as in the real transport.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/io/loop.h"
#include "controller/io/transport.h"

namespace berth {

struct FakeReply {
  int status = 200;
  std::string body;
  std::vector<HttpHeader> headers;
  TransportOutcome outcome =
      TransportOutcome::kComplete;  // for any other outcome there is neither head nor body
  std::string detail;
  std::chrono::milliseconds delay{0};
};

// One running exchange. Everything is posted; what comes after the end is dropped.
class FakeExchange : public std::enable_shared_from_this<FakeExchange> {
 public:
  FakeExchange(Loop& loop, HttpRequest sent, std::shared_ptr<ResponseSink> sink)
      : request(std::move(sent)), loop_(loop), sink_(std::move(sink)) {}

  void head(int status, std::vector<HttpHeader> headers = {}) {
    touch();
    loop_.post([self = shared_from_this(), status, headers = std::move(headers)] {
      if (self->sink_) self->sink_->on_head(status, headers);
    });
  }
  void bytes(std::string text) {
    touch();
    loop_.post([self = shared_from_this(), text = std::move(text)] {
      if (self->sink_) self->sink_->on_bytes(text);
    });
  }
  void end(TransportOutcome outcome = TransportOutcome::kComplete, std::string detail = "") {
    loop_.cancel(deadline_);
    loop_.cancel(idle_);
    loop_.post([self = shared_from_this(), outcome, detail = std::move(detail)] {
      self->stop_link_.reset();
      if (self->sink_) std::exchange(self->sink_, nullptr)->on_end(outcome, detail);
    });
  }
  bool ended() const { return sink_ == nullptr; }
  // "GET /api/v1/nodes"
  std::string name() const {
    return request.method + " " + request.target.substr(0, request.target.find('?'));
  }

  const HttpRequest request;

 private:
  friend class FakeTransport;
  void link(std::stop_token stop) {
    // Weak, because the exchange owns its callback.
    stop_link_.emplace(std::move(stop), [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->end(TransportOutcome::kCancelled);
    });
    if (request.deadline.count() > 0) {
      deadline_ = loop_.call_after(request.deadline, [weak = weak_from_this()] {
        if (auto self = weak.lock()) self->end(TransportOutcome::kTimeout, "deadline exceeded");
      });
    }
    touch();
  }
  void touch() {
    loop_.cancel(idle_);
    if (request.idle_timeout.count() == 0 || ended()) return;
    idle_ = loop_.call_after(request.idle_timeout, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->end(TransportOutcome::kTimeout, "silent for too long");
    });
  }

  Loop& loop_;
  std::shared_ptr<ResponseSink> sink_;
  std::optional<std::stop_callback<std::function<void()>>> stop_link_;
  Loop::TimerId deadline_ = 0;
  Loop::TimerId idle_ = 0;
};

class FakeTransport : public Transport {
 public:
  explicit FakeTransport(Loop& loop) : loop_(loop) {}

  // `name` in the form of FakeExchange::name().
  void script(const std::string& name, FakeReply reply) {
    scripts_[name].push_back(std::move(reply));
  }
  // Called if no script has a reply left; nullopt keeps the exchange open.
  using Responder = std::function<std::optional<FakeReply>(const HttpRequest&)>;
  void respond_with(Responder responder) { responder_ = std::move(responder); }

  void start(HttpRequest request, std::shared_ptr<ResponseSink> sink,
             std::stop_token stop) override {
    auto exchange = std::make_shared<FakeExchange>(loop_, std::move(request), std::move(sink));
    exchanges.push_back(exchange);
    exchange->link(std::move(stop));
    std::deque<FakeReply>& script = scripts_[exchange->name()];
    if (!script.empty()) {
      answer(exchange, std::move(script.front()));
      script.pop_front();
    } else if (responder_) {
      std::optional<FakeReply> reply = responder_(exchange->request);
      if (reply) answer(exchange, std::move(*reply));
    }
  }

  // The newest open exchange of that name, or nullptr.
  std::shared_ptr<FakeExchange> open(const std::string& name) const {
    for (auto it = exchanges.rbegin(); it != exchanges.rend(); ++it) {
      if ((*it)->name() == name && !(*it)->ended()) return *it;
    }
    return nullptr;
  }
  // Every exchange, in order: "GET /api/v1/nodes?limit=500".
  std::vector<std::string> targets() const {
    std::vector<std::string> out;
    for (const auto& e : exchanges) out.push_back(e->request.method + " " + e->request.target);
    return out;
  }

  std::vector<std::shared_ptr<FakeExchange>> exchanges;

 private:
  void answer(std::shared_ptr<FakeExchange> exchange, FakeReply reply) {
    loop_.call_after(reply.delay, [exchange = std::move(exchange), reply = std::move(reply)] {
      if (exchange->ended()) return;
      if (reply.outcome == TransportOutcome::kComplete) {
        exchange->head(reply.status, reply.headers);
        // In two pieces, because no code may rely on a body in one piece.
        const std::size_t half = reply.body.size() / 2;
        exchange->bytes(reply.body.substr(0, half));
        exchange->bytes(reply.body.substr(half));
      }
      exchange->end(reply.outcome, reply.detail);
    });
  }

  Loop& loop_;
  std::map<std::string, std::deque<FakeReply>> scripts_;
  Responder responder_;
};

}  // namespace berth
