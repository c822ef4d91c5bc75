// SPDX-License-Identifier: Apache-2.0
#include "controller/server/http_server.h"

#include <netdb.h>
#include <uv.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "controller/server/http_connection.h"
#include "controller/server/tls_context.h"

namespace berth {
namespace {

// If it is full, clients retry a second later.
constexpr int kBacklog = 1024;
// Limits new connections per turn, so that endless connects neither block existing clients nor
// close a new client before it has sent its request: all places are replaced only after this many
// milliseconds.
constexpr int kTurnsOfAPlace = 8;
constexpr std::uint64_t kLookMs = 250;  // between checks for slow connections

// The address to bind to; an error is getaddrinfo's. An empty host means all addresses, of IPv4 and
// IPv6 if there are both.
int resolve(const ListenAddress& address, sockaddr_storage& into) {
  if (address.host.empty())
    return uv_ip6_addr("::", address.port, reinterpret_cast<sockaddr_in6*>(&into));
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  const int failed =
      getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &wanted, &found);
  if (failed != 0) return failed;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> freed(found, freeaddrinfo);
  std::copy_n(reinterpret_cast<const char*>(found->ai_addr), found->ai_addrlen,
              reinterpret_cast<char*>(&into));
  return 0;
}

}  // namespace

struct HttpServer::Impl {
  struct Listener {
    Impl& server;
    HttpService service;
    std::unique_ptr<TlsContext> tls;  // null: no TLS
    uv_tcp_t socket{};
    bool someone_waits = false;  // a client waits, because enough were accepted in this turn

    uv_stream_t* stream() { return reinterpret_cast<uv_stream_t*>(&socket); }
  };

  Impl(uv_loop_t* on, HttpServerLimits limits, std::function<void()> on_large_gone)
      : loop(on),
        commons{.loop = on,
                .limits = limits,
                .on_closed = [this](HttpConnection& gone) { forget(gone); },
                .on_paused = [this](HttpConnection& one) { wait_for_next_turn(one); }},
        room(limits.posts, limits.posted_bytes, std::move(on_large_gone)) {
    for (uv_timer_t* timer : {&clock, &accepting, &feeding}) {
      uv_timer_init(loop, timer);
      timer->data = this;
    }
    uv_idle_init(loop, &next_turns);
    next_turns.data = this;
  }

  void accept(Listener& listener) {
    listener.someone_waits = ++accepted_in_turn > std::max(places() / kTurnsOfAPlace, 1);
    if (accepted_in_turn == 1) start_accepting();
    if (listener.someone_waits) return;
    make_room();
    auto made = std::make_unique<HttpConnection>(commons, listener.service, listener.tls.get());
    HttpConnection& connection = *made;
    connections.emplace(&connection, std::move(made));
    connection.accept(listener.stream());
    if (uv_is_active(reinterpret_cast<uv_handle_t*>(&clock)) == 0) look_at_the_clock();
  }

  void start_accepting() {
    uv_timer_start(
        &accepting,
        [](uv_timer_t* timer) {
          Impl& me = *static_cast<Impl*>(timer->data);
          me.accepted_in_turn = 0;
          for (const auto& listener : me.listeners)
            if (listener->someone_waits) me.accept(*listener);
        },
        1, 0);
  }

  void wait_for_next_turn(HttpConnection& connection) {
    paused.push_back(&connection);
    uv_idle_start(&next_turns, [](uv_idle_t* idle) {
      Impl& me = *static_cast<Impl*>(idle->data);
      uv_idle_stop(idle);
      for (HttpConnection* const one : std::exchange(me.paused, {})) one->carry_on();
    });
  }

  int places() const { return std::max(commons.limits.connections, 1); }

  void make_room() {
    if (connections.size() < static_cast<std::size_t>(places())) return;
    std::vector<HttpConnection*> open;
    std::vector<Standing> standings;
    for (const auto& [connection, owned] : connections) {
      if (connection->closing()) continue;
      open.push_back(connection);
      standings.push_back(connection->standing());
    }
    if (open.size() >= static_cast<std::size_t>(places()))
      open[choose_who_goes(standings)]->close();
  }

  void forget(HttpConnection& gone) {
    std::erase(paused, &gone);
    connections.erase(&gone);
    if (!closing && connections.empty()) uv_timer_stop(&clock);
  }

  static void look_at_all(uv_timer_t* timer) {
    const Impl& me = *static_cast<Impl*>(timer->data);
    for (const auto& [connection, owned] : me.connections) connection->look_at_the_clock();
  }
  void look_at_the_clock() { uv_timer_start(&clock, look_at_all, kLookMs, kLookMs); }

  void feed_in(std::uint64_t ms) {
    const bool waits = uv_is_active(reinterpret_cast<uv_handle_t*>(&feeding)) != 0;
    if (waits && uv_timer_get_due_in(&feeding) <= ms) return;
    uv_update_time(loop);  // after a long turn the timer would fire too early
    uv_timer_start(&feeding, look_at_all, ms, 0);
  }

  uv_loop_t* const loop;
  HttpConnection::Commons commons;
  PostRoom room;
  bool draining = false;
  bool closing = false;
  uv_timer_t clock;
  uv_timer_t accepting;
  uv_timer_t feeding;
  int accepted_in_turn = 0;
  uv_idle_t next_turns;
  std::vector<HttpConnection*> paused;
  std::vector<std::unique_ptr<Listener>> listeners;
  std::map<HttpConnection*, std::unique_ptr<HttpConnection>> connections;
};

HttpServer::HttpServer(uv_loop_s* loop, HttpServerLimits limits,
                       std::function<void()> on_large_gone)
    : impl_(std::make_unique<Impl>(loop, limits, std::move(on_large_gone))) {}

HttpServer::~HttpServer() {
  impl_->closing = true;
  int open = 4 + static_cast<int>(impl_->listeners.size());
  const auto close = [&](auto& handle) {
    handle.data = &open;
    uv_close(reinterpret_cast<uv_handle_t*>(&handle),
             [](uv_handle_t* closed) { --*static_cast<int*>(closed->data); });
  };
  for (const auto& listener : impl_->listeners) close(listener->socket);
  close(impl_->clock);
  close(impl_->accepting);
  close(impl_->feeding);
  close(impl_->next_turns);
  for (const auto& [connection, owned] : impl_->connections) connection->close();
  while (open > 0 || !impl_->connections.empty()) uv_run(impl_->loop, UV_RUN_NOWAIT);
}

Result<int> HttpServer::listen(const ListenAddress& address, HttpHandler handler,
                               ListenOptions options) {
  const auto failed = [&](std::string why) {
    return Error{.kind = ErrorKind::kUnavailable,
                 .message = "cannot listen here: " + std::move(why),
                 .where = address.host + ":" + std::to_string(address.port)};
  };
  sockaddr_storage at{};
  if (const int error = resolve(address, at); error != 0) return failed(gai_strerror(error));
  impl_->listeners.push_back(std::unique_ptr<Impl::Listener>(new Impl::Listener{
      .server = *impl_,
      .service = {.handler = std::move(handler),
                  .max_body_bytes = options.max_body_bytes,
                  .limits = impl_->commons.limits,
                  .room = impl_->room,
                  .draining = impl_->draining},
      .tls = options.certificate == nullptr
                 ? nullptr
                 : std::make_unique<TlsContext>(*options.certificate, options.clients)}));
  Impl::Listener& listener = *impl_->listeners.back();
  uv_tcp_init(impl_->loop, &listener.socket);
  listener.socket.data = &listener;
  auto* const name = reinterpret_cast<sockaddr*>(&at);
  int error = uv_tcp_bind(&listener.socket, name, 0);
  if (error == UV_EAFNOSUPPORT && address.host.empty()) {  // a kernel without IPv6
    uv_ip4_addr("0.0.0.0", address.port, reinterpret_cast<sockaddr_in*>(&at));
    error = uv_tcp_bind(&listener.socket, name, 0);
  }
  if (error == 0)
    error = uv_listen(listener.stream(), kBacklog, [](uv_stream_t* from, int status) {
      auto& me = *static_cast<Impl::Listener*>(from->data);
      if (status == 0) me.server.accept(me);
    });
  if (error != 0) return failed(uv_strerror(error));
  int size = sizeof(at);
  uv_tcp_getsockname(&listener.socket, name, &size);
  // the port is at the same offset in sockaddr_in6
  return ntohs(reinterpret_cast<sockaddr_in*>(&at)->sin_port);
}

void HttpServer::drain() { impl_->draining = true; }

void HttpServer::feed_in(std::chrono::nanoseconds wait) {
  impl_->feed_in(
      static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::milliseconds>(wait).count()));
}

}  // namespace berth
