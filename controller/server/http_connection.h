// SPDX-License-Identifier: Apache-2.0
// HttpConnection: a client's socket on the loop, with TLS or without, and the protocol spoken on
// it. While a client does not take what it was sent, nothing more is read of it, and one that says
// much takes turns with the others. Loop thread only.
#pragma once

#include <uv.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "controller/server/crowd.h"
#include "controller/server/http_protocol.h"
#include "controller/server/tls_session.h"

namespace berth {

class TlsContext;

class HttpConnection {
 public:
  // Of a connection in a turn of the loop; a TLS record.
  static constexpr std::size_t kReadBytes = 16 << 10;
  // What the connections of a server have in common.
  struct Commons {
    uv_loop_t* loop;
    HttpServerLimits limits;
    // Its socket is no more: it may be deleted.
    std::function<void(HttpConnection&)> on_closed;
    // It has had its turn, and is to carry_on() in the next.
    std::function<void(HttpConnection&)> on_paused;
    std::unique_ptr<char[]> arriving = std::make_unique_for_overwrite<char[]>(kReadBytes);
    std::unique_ptr<char[]> plain =
        std::make_unique_for_overwrite<char[]>(TlsSession::kRecordBytes);
  };
  // All of them outlive it. No TLS: null.
  HttpConnection(Commons& commons, const HttpService& service, const TlsContext* tls);
  HttpConnection(const HttpConnection&) = delete;
  ~HttpConnection();

  void accept(uv_stream_t* listener);
  // To be called now and then: ends it if it takes too long, and takes leave once if it is to.
  void look_at_the_clock();
  void carry_on();
  bool closing() const;
  Standing standing() const;
  // At once, in the middle of whatever; on_closed() follows.
  void close();

 private:
  static HttpConnection& self(void* data) { return *static_cast<HttpConnection*>(data); }
  uv_stream_t* stream() { return reinterpret_cast<uv_stream_t*>(&socket_); }
  bool takes_too_long() const;
  void read();
  void on_read(ssize_t size);
  void hear(std::string_view came);
  void open();
  void go_on();
  void pause();
  bool over() const;
  void flush();
  void write(std::string_view bytes);
  void send_on_way();
  void on_written(int status);
  void end();

  Commons& commons_;
  const HttpService& service_;
  std::unique_ptr<TlsSession> tls_;         // null: none
  std::unique_ptr<HttpProtocol> protocol_;  // null: until the handshake is through
  uv_tcp_t socket_;
  uv_write_t writing_;
  uv_shutdown_t shutting_;
  std::string out_;     // of the protocol, of this turn
  std::string on_way_;  // what the socket did not take at once; empty: nothing
  std::string next_;    // and what came after it
  PeerAddress peer_{};
  const std::uint64_t opened_ms_;
  std::uint64_t on_way_ms_ = 0;
  std::uint64_t ended_ms_ = 0;  // all is said, and what still comes is not heard; 0: not yet
  bool tls_over_ = false;       // failed, or the client took leave
  bool half_closed_ = false;    // by the client, as it may while it is answered
  bool paused_ = false;
};

}  // namespace berth
