// SPDX-License-Identifier: Apache-2.0
#include "controller/server/http_connection.h"

#include <cstring>
#include <utility>

#include "controller/server/tls_context.h"

namespace berth {
namespace {

constexpr int kEndingSeconds = 2;

// All zero if the peer has already disconnected.
PeerAddress peer_of(const uv_tcp_t& socket) {
  sockaddr_storage name{};
  int size = sizeof(name);
  PeerAddress peer{};
  if (uv_tcp_getpeername(&socket, reinterpret_cast<sockaddr*>(&name), &size) != 0) return peer;
  if (name.ss_family == AF_INET) {
    peer[10] = peer[11] = 0xff;
    std::memcpy(peer.data() + 12, &reinterpret_cast<const sockaddr_in&>(name).sin_addr, 4);
  } else {
    std::memcpy(peer.data(), &reinterpret_cast<const sockaddr_in6&>(name).sin6_addr, peer.size());
  }
  return peer;
}

}  // namespace

HttpConnection::HttpConnection(Commons& commons, const HttpService& service, const TlsContext* tls)
    : commons_(commons), service_(service), opened_ms_(uv_now(commons.loop)) {
  uv_tcp_init(commons_.loop, &socket_);
  socket_.data = writing_.data = this;
  if (tls != nullptr) tls_ = std::make_unique<TlsSession>(*tls);
}

HttpConnection::~HttpConnection() = default;

bool HttpConnection::closing() const {
  return uv_is_closing(reinterpret_cast<const uv_handle_t*>(&socket_)) != 0;
}

void HttpConnection::close() {
  if (closing()) return;
  uv_close(reinterpret_cast<uv_handle_t*>(&socket_), [](uv_handle_t* handle) {
    HttpConnection& me = self(handle->data);
    me.commons_.on_closed(me);
  });
}

void HttpConnection::accept(uv_stream_t* listener) {
  if (uv_accept(listener, stream()) != 0) return close();
  uv_tcp_nodelay(&socket_, 1);
  peer_ = peer_of(socket_);
  if (tls_ == nullptr) open();
  read();
}

void HttpConnection::read() {
  uv_read_start(
      stream(),
      [](uv_handle_t* handle, std::size_t, uv_buf_t* into) {
        *into = uv_buf_init(self(handle->data).commons_.arriving.get(), kReadBytes);
      },
      [](uv_stream_t* from, ssize_t size, const uv_buf_t*) { self(from->data).on_read(size); });
}

void HttpConnection::on_read(ssize_t size) {
  if (size == 0) return;  // no data yet
  if (size < 0) {
    half_closed_ = size == UV_EOF && !on_way_.empty();
    return half_closed_ ? static_cast<void>(uv_read_stop(stream())) : close();
  }
  if (ended_ms_ != 0) return;
  hear({commons_.arriving.get(), static_cast<std::size_t>(size)});
  go_on();
  if (size == static_cast<ssize_t>(kReadBytes) && on_way_.empty()) pause();
}

void HttpConnection::hear(std::string_view came) {
  const std::uint64_t now = uv_now(commons_.loop);
  if (tls_ == nullptr) return protocol_->take(came, now, out_);
  tls_over_ = !tls_->take(came, commons_.plain.get(), [this, now](std::string_view plain) {
    if (protocol_ == nullptr) open();
    protocol_->take(plain, now, out_);
  });
  if (!tls_over_ && protocol_ == nullptr && tls_->handshaken()) open();
}

void HttpConnection::open() {
  protocol_ = speak_http1(service_);
  protocol_->resume(uv_now(commons_.loop), out_);
}

bool HttpConnection::over() const {
  return tls_over_ || (protocol_ != nullptr && protocol_->over());
}

// Sends the output, and continues after it was sent.
void HttpConnection::go_on() {
  const bool more_waits = out_.size() >= kEnoughToSend && !over();
  flush();
  if (closing()) return;
  if (!on_way_.empty())
    uv_read_stop(stream());
  else if (more_waits)
    pause();
  else if (half_closed_)
    close();
  else if (over())
    end();
}

void HttpConnection::pause() {
  if (paused_ || closing() || ended_ms_ != 0) return;
  paused_ = true;
  uv_read_stop(stream());
  commons_.on_paused(*this);
}

void HttpConnection::carry_on() {
  paused_ = false;
  if (closing() || ended_ms_ != 0 || !on_way_.empty()) return;
  if (protocol_ != nullptr && !over()) protocol_->resume(uv_now(commons_.loop), out_);
  go_on();
  if (!paused_ && !half_closed_ && on_way_.empty() && !closing()) read();
}

void HttpConnection::flush() {
  if (tls_ == nullptr) {
    write(out_);
  } else {
    tls_->say(out_);
    write(tls_->outgoing());
    tls_->outgoing().clear();
  }
  out_.clear();
}

void HttpConnection::write(std::string_view bytes) {
  if (closing() || bytes.empty()) return;
  if (!on_way_.empty()) {
    next_ += bytes;
    return;
  }
  const uv_buf_t what =
      uv_buf_init(const_cast<char*>(bytes.data()), static_cast<unsigned>(bytes.size()));
  const int sent = uv_try_write(stream(), &what, 1);
  if (sent < 0 && sent != UV_EAGAIN) return close();
  if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
  on_way_ = bytes;
  send_on_way();
}

void HttpConnection::send_on_way() {
  if (on_way_.empty()) return;
  on_way_ms_ = uv_now(commons_.loop);
  const uv_buf_t what = uv_buf_init(on_way_.data(), static_cast<unsigned>(on_way_.size()));
  const int begun = uv_write(&writing_, stream(), &what, 1, [](uv_write_t* request, int status) {
    self(request->data).on_written(status);
  });
  if (begun != 0) close();
}

void HttpConnection::on_written(int status) {
  if (status != 0) return close();
  on_way_ = std::exchange(next_, {});
  send_on_way();
  carry_on();
}

// If a socket is closed with unread input, the kernel resets the connection, and the client may
// lose the last answer. So this reads the input to its end first, for a limited time.
void HttpConnection::end() {
  if (ended_ms_ != 0) return;
  ended_ms_ = uv_now(commons_.loop);
  if (tls_ != nullptr) {
    tls_->take_leave();
    flush();
  }
  if (closing()) return;
  if (uv_shutdown(&shutting_, stream(), [](uv_shutdown_t*, int) {}) != 0) return close();
  read();
}

void HttpConnection::look_at_the_clock() {
  if (closing()) return;
  if (takes_too_long()) return close();
  if (ended_ms_ != 0 || protocol_ == nullptr || !on_way_.empty() || paused_) return;
  carry_on();
}

bool HttpConnection::takes_too_long() const {
  const std::uint64_t now = uv_now(commons_.loop);
  const auto past = [&](std::uint64_t since_ms, int seconds) {
    return now > since_ms + 1000ull * static_cast<unsigned>(seconds);
  };
  const HttpServerLimits& limits = commons_.limits;
  if (ended_ms_ != 0) return past(ended_ms_, kEndingSeconds);
  if (!on_way_.empty() && past(on_way_ms_, limits.request_seconds)) return true;
  if (protocol_ == nullptr) return past(opened_ms_, limits.request_seconds);
  if (const auto busy_ms = protocol_->busy_since_ms())
    return past(*busy_ms, limits.request_seconds);
  if (const auto answered_ms = protocol_->answered_ms())
    return past(*answered_ms, limits.idle_seconds);
  return past(opened_ms_, limits.request_seconds);
}

Standing HttpConnection::standing() const {
  using State = Standing::State;
  if (ended_ms_ != 0) return {peer_, State::kTold, ended_ms_};
  const auto answered_ms = protocol_ == nullptr ? std::nullopt : protocol_->answered_ms();
  if (!answered_ms) return {peer_, State::kNew, opened_ms_};
  if (!on_way_.empty()) return {peer_, State::kBusy, on_way_ms_};
  if (const auto busy_ms = protocol_->busy_since_ms()) return {peer_, State::kBusy, *busy_ms};
  return {peer_, State::kIdle, *answered_ms};
}

}  // namespace berth
