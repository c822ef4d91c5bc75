// SPDX-License-Identifier: Apache-2.0
// HttpConnection: a client's socket on the loop, with TLS or without, and its protocol. It reads no
// more from a client that does not read its answers. A client that sends much takes turns with the
// others. Loop thread only.
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
  // Read at most per connection and turn of the loop: the size of a TLS record.
  static constexpr std::size_t kReadBytes = 16 << 10;
  // Shared by all connections of a server.
  struct Commons {
    uv_loop_t* loop;
    HttpServerLimits limits;
    // Its socket is closed: it may be deleted.
    std::function<void(HttpConnection&)> on_closed;
    // Its turn is over: call carry_on() in the next turn.
    std::function<void(HttpConnection&)> on_paused;
    std::unique_ptr<char[]> arriving = std::make_unique_for_overwrite<char[]>(kReadBytes);
    std::unique_ptr<char[]> plain =
        std::make_unique_for_overwrite<char[]>(TlsSession::kRecordBytes);
  };
  // All arguments must outlive it. `tls` is null without TLS.
  HttpConnection(Commons& commons, const HttpService& service, const TlsContext* tls);
  HttpConnection(const HttpConnection&) = delete;
  ~HttpConnection();

  void accept(uv_stream_t* listener);
  // Call it regularly: closes the connection if it is too slow, and says goodbye when the server
  // drains.
  void look_at_the_clock();
  void carry_on();
  bool closing() const;
  Standing standing() const;
  // Closes at once, in any state; on_closed() follows.
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
  std::unique_ptr<TlsSession> tls_;         // null: no TLS
  std::unique_ptr<HttpProtocol> protocol_;  // null until the handshake is complete
  uv_tcp_t socket_;
  uv_write_t writing_;
  uv_shutdown_t shutting_;
  std::string out_;     // output of the protocol in this turn
  std::string on_way_;  // bytes that the socket has not accepted yet; empty: none
  std::string next_;    // output that follows on_way_
  PeerAddress peer_{};
  const std::uint64_t opened_ms_;
  std::uint64_t on_way_ms_ = 0;
  std::uint64_t ended_ms_ = 0;  // when all was sent; input is ignored since then; 0: not yet
  bool tls_over_ = false;       // TLS failed, or the client closed it
  bool half_closed_ = false;    // by the client, which may still read its answer
  bool paused_ = false;
};

}  // namespace berth
