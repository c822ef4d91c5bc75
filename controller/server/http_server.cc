// SPDX-License-Identifier: Apache-2.0
// libwebsockets calls one C function for everything. Per-request state hangs on the connection as a
// pointer and is freed at HTTP_DROP_PROTOCOL and at CLOSED_HTTP: on a kept connection the first
// comes between requests without the second, and what is not freed there is leaked.
#include "controller/server/http_server.h"

#include <libwebsockets.h>
#include <openssl/ssl.h>
#include <uv.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include "controller/server/client_authorities.h"
#include "controller/server/serving_certificate.h"

namespace berth {
namespace {

constexpr std::size_t kHeadBytes = 1024;
constexpr std::size_t kChunkBytes = 15 * 1024;  // with a head no more than a TLS record holds
constexpr unsigned kTooManyRequests = 429;

// Of all listeners together.
struct Load {
  const uv_loop_t* loop = nullptr;
  HttpServerLimits limits;
  bool draining = false;
  int posts = 0;
  std::size_t posted_bytes = 0;
  // What is about to be written, with the room in front that libwebsockets asks for.
  std::vector<unsigned char> outgoing =
      std::vector<unsigned char>(LWS_PRE + kHeadBytes + kChunkBytes);
  unsigned char* start() { return outgoing.data() + LWS_PRE; }
};

// Its strings too: libwebsockets keeps the pointers it is given.
struct Listener {
  Load& load;
  std::string name;
  ListenAddress address;
  HttpHandler handler;
  ListenOptions options;
};

// A POST whose body is on its way.
struct Post {
  Post(Load& load, std::string_view to, std::size_t bytes)
      : path(to), began_at_ms(uv_now(load.loop)), load_(load), bytes_(bytes) {
    ++load_.posts;
    load_.posted_bytes += bytes_;
  }
  Post(const Post&) = delete;
  ~Post() {
    --load_.posts;
    load_.posted_bytes -= bytes_;
  }
  const std::string path;
  const std::uint64_t began_at_ms;
  std::string arrived;

 private:
  Load& load_;
  const std::size_t bytes_;  // that it said would come
};

struct Exchange {
  std::unique_ptr<Post> post;
  std::string body;  // of the response
  std::size_t sent = 0;
};
// What libwebsockets allocates, zeroed, for each connection.
struct Session {
  Exchange* exchange;
};

void drop(Session* session) {
  if (session == nullptr) return;
  delete std::exchange(session->exchange, nullptr);
}

std::string header(lws* wsi, lws_token_indexes token) {
  const int length = lws_hdr_total_length(wsi, token);
  if (length <= 0) return {};
  std::string value(static_cast<std::size_t>(length) + 1, '\0');
  if (lws_hdr_copy(wsi, value.data(), length + 1, token) < 0) return {};
  value.pop_back();
  return value;
}

Listener& listener_of(lws_vhost* vhost) { return *static_cast<Listener*>(lws_vhost_user(vhost)); }
Listener& listener_of(lws* wsi) { return listener_of(lws_get_vhost(wsi)); }

// Returns what the callback is to return: nonzero closes the connection.
int refuse(lws* wsi, unsigned code) {
  lws_return_http_status(wsi, code, nullptr);
  return -1;
}

// Returns as refuse() does. A connection is kept, unless the server means to end.
int complete(lws* wsi) {
  return listener_of(wsi).load.draining || lws_http_transaction_completed(wsi) ? -1 : 0;
}

// The head of a response, written behind `at` and up to `end`; false: it does not fit.
bool put_head(lws* wsi, const HttpResponse& response, unsigned char** at, unsigned char* end) {
  constexpr std::string_view kClose = "close";
  return !lws_add_http_common_headers(wsi, static_cast<unsigned>(response.status),
                                      response.content_type.c_str(), response.body.size(), at,
                                      end) &&
         (!listener_of(wsi).load.draining ||
          !lws_add_http_header_by_token(wsi, WSI_TOKEN_CONNECTION,
                                        reinterpret_cast<const unsigned char*>(kClose.data()),
                                        kClose.size(), at, end)) &&
         !lws_finalize_http_header(wsi, at, end);
}

// A body that is short goes out with its head, in one TLS record and one call of the system, and
// without waiting for the socket: libwebsockets keeps what the socket does not take.
int respond(lws* wsi, Session* session, HttpCall call) {
  const std::string query = header(wsi, WSI_TOKEN_HTTP_URI_ARGS);
  const std::string content_type = header(wsi, WSI_TOKEN_HTTP_CONTENT_TYPE);
  call.query = query;
  call.content_type = content_type;
  HttpResponse response = listener_of(wsi).handler(call);

  unsigned char* const start = listener_of(wsi).load.start();
  unsigned char* at = start;
  if (!put_head(wsi, response, &at, start + kHeadBytes)) return -1;
  const bool no_body = call.method == "HEAD" || response.body.empty();
  const bool together = !no_body && response.body.size() <= kChunkBytes;
  if (together) at = std::ranges::copy(response.body, at).out;
  const auto size = static_cast<std::size_t>(at - start);
  if (lws_write(wsi, start, size, LWS_WRITE_HTTP_HEADERS) < static_cast<int>(size)) return -1;
  drop(session);
  if (no_body || together) return complete(wsi);
  session->exchange = new Exchange{.body = std::move(response.body)};
  lws_callback_on_writable(wsi);
  return 0;
}

int end_body(lws* wsi, Session* session) {
  if (session->exchange == nullptr || session->exchange->post == nullptr) return -1;
  const std::unique_ptr<Post> post = std::move(session->exchange->post);
  return respond(wsi, session, {.method = "POST", .path = post->path, .body = post->arrived});
}

// A POST waits for its body; what would not fit is refused before it is read.
int begin_body(lws* wsi, Session* session, std::string_view path) {
  const std::size_t limit = listener_of(wsi).options.max_body_bytes;
  if (limit == 0) return refuse(wsi, HTTP_STATUS_METHOD_NOT_ALLOWED);
  const std::string length = header(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH);
  std::size_t bytes = 0;
  const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bytes);
  if (length.empty() || error == std::errc::invalid_argument ||
      end != length.data() + length.size())
    return refuse(wsi, HTTP_STATUS_LENGTH_REQUIRED);
  if (error != std::errc() || bytes > limit) return refuse(wsi, HTTP_STATUS_REQ_ENTITY_TOO_LARGE);
  Load& load = listener_of(wsi).load;
  if (load.posts >= load.limits.posts || load.posted_bytes + bytes > load.limits.posted_bytes)
    return refuse(wsi, kTooManyRequests);
  drop(session);
  session->exchange = new Exchange{.post = std::make_unique<Post>(load, path, bytes)};
  return 0;
}

int begin(lws* wsi, Session* session, std::string_view path) {
  if (lws_hdr_total_length(wsi, WSI_TOKEN_POST_URI) > 0) return begin_body(wsi, session, path);
  if (lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) > 0)
    return respond(wsi, session, {.method = "GET", .path = path});
  if (lws_hdr_total_length(wsi, WSI_TOKEN_HEAD_URI) > 0)
    return respond(wsi, session, {.method = "HEAD", .path = path});
  return refuse(wsi, HTTP_STATUS_METHOD_NOT_ALLOWED);
}

int take_body(lws* wsi, Session* session, std::string_view bytes) {
  if (session->exchange == nullptr || session->exchange->post == nullptr) return -1;
  Post& post = *session->exchange->post;
  const Listener& listener = listener_of(wsi);
  if (post.arrived.size() + bytes.size() > listener.options.max_body_bytes) return -1;
  // libwebsockets limits the silence between two pieces only.
  const std::uint64_t took_ms = uv_now(listener.load.loop) - post.began_at_ms;
  if (took_ms > 1000ull * static_cast<unsigned>(listener.load.limits.request_seconds)) return -1;
  post.arrived.append(bytes);
  return 0;
}

int send_more(lws* wsi, Session* session) {
  Exchange* exchange = session->exchange;
  if (exchange == nullptr) return 0;
  const std::size_t size = std::min(kChunkBytes, exchange->body.size() - exchange->sent);
  const bool last = exchange->sent + size == exchange->body.size();
  unsigned char* const start = listener_of(wsi).load.start();
  std::memcpy(start, exchange->body.data() + exchange->sent, size);
  if (lws_write(wsi, start, size, last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) <
      static_cast<int>(size))
    return -1;
  exchange->sent += size;
  if (!last) {
    lws_callback_on_writable(wsi);
    return 0;
  }
  drop(session);
  return complete(wsi);
}

int on_lws(lws* wsi, lws_callback_reasons reason, void* user, void* in, std::size_t length) {
  auto* session = static_cast<Session*>(user);
  const std::string_view text(static_cast<const char*>(in), in != nullptr ? length : 0);
  switch (reason) {
    case LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS:  // a listener's TLS context is made
      if (auto* context = static_cast<SSL_CTX*>(user)) {
        const ListenOptions& options = listener_of(static_cast<lws_vhost*>(in)).options;
        options.certificate->serve(context);
        if (options.clients != nullptr) options.clients->demand(context);
      }
      return 0;
    case LWS_CALLBACK_HTTP:
      return begin(wsi, session, text);
    case LWS_CALLBACK_HTTP_BODY:
      return take_body(wsi, session, text);
    case LWS_CALLBACK_HTTP_BODY_COMPLETION:
      return end_body(wsi, session);
    case LWS_CALLBACK_HTTP_WRITEABLE:
      return send_more(wsi, session);
    case LWS_CALLBACK_HTTP_DROP_PROTOCOL:
    case LWS_CALLBACK_CLOSED_HTTP:
      drop(session);
      return 0;
    default:
      return lws_callback_http_dummy(wsi, reason, user, in, length);
  }
}

const std::array<lws_protocols, 2> kProtocols{{
    {.name = "http", .callback = on_lws, .per_session_data_size = sizeof(Session)},
    {},
}};

}  // namespace

struct HttpServer::Impl {
  uv_loop_t* loop = nullptr;
  Load load;
  lws_context* context = nullptr;
  std::vector<std::unique_ptr<Listener>> listeners;
};

HttpServer::HttpServer(uv_loop_s* loop, Log& log, HttpServerLimits limits)
    : impl_(std::make_unique<Impl>()) {
  impl_->loop = loop;
  impl_->load.loop = loop;
  impl_->load.limits = limits;
  lws_set_log_level(LLL_ERR, [](int, const char*) {});  // what matters comes back as results
  void* loops[1] = {loop};
  lws_context_creation_info info{};
  info.port = CONTEXT_PORT_NO_LISTEN;
  info.options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_EXPLICIT_VHOSTS |
                 LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
  info.foreign_loops = loops;
  info.protocols = kProtocols.data();
  // Also bounds a table that would otherwise be sized by the process' limit of descriptors.
  info.fd_limit_per_thread = static_cast<unsigned>(limits.connections);
  info.max_http_header_data = static_cast<unsigned short>(limits.header_bytes);
  // One a connection, taken while it sends a head or a body: no slow one holds up the others.
  info.max_http_header_pool = static_cast<unsigned short>(limits.connections);
  info.pt_serv_buf_size = 16384;  // a review in one read
  info.timeout_secs = static_cast<unsigned>(limits.request_seconds);
  impl_->context = lws_create_context(&info);
  if (impl_->context == nullptr)
    log.error("no HTTP server: is the package libwebsockets-evlib-uv installed?");
}

HttpServer::~HttpServer() {
  if (impl_->context == nullptr) return;
  lws_context_destroy(impl_->context);
  // Its handles on the loop close in the loop's own time.
  for (int turns = 0; turns < 100 && uv_run(impl_->loop, UV_RUN_NOWAIT) != 0; ++turns) {
  }
  // On a loop that is not its own, libwebsockets frees itself at the second call.
  lws_context_destroy(impl_->context);
}

Result<int> HttpServer::listen(const ListenAddress& address, HttpHandler handler,
                               ListenOptions options) {
  const std::string shown = address.host + ":" + std::to_string(address.port);
  const auto failed = [&](const char* why) {
    return Error{.kind = ErrorKind::kUnavailable, .message = why, .where = shown};
  };
  if (impl_->context == nullptr) return failed("the HTTP server did not start");
  const std::string name = "listener" + std::to_string(impl_->listeners.size());
  impl_->listeners.push_back(std::unique_ptr<Listener>(
      new Listener{impl_->load, name, address, std::move(handler), options}));
  Listener& listener = *impl_->listeners.back();
  lws_context_creation_info info{};
  info.port = address.port;
  info.iface = address.host.empty() ? nullptr : listener.address.host.c_str();
  info.vhost_name = listener.name.c_str();
  info.protocols = kProtocols.data();
  info.user = &listener;
  info.keepalive_timeout = impl_->load.limits.idle_seconds;
  info.timeout_secs = static_cast<unsigned>(impl_->load.limits.request_seconds);
  info.options = LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND;
  if (options.certificate != nullptr) {
    // Its certificate comes by a callback.
    info.options |= LWS_SERVER_OPTION_CREATE_VHOST_SSL_CTX | LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
    // The order is ours, and the one that Go's servers have.
    info.ssl_options_set =
        SSL_OP_NO_SSLv3 | SSL_OP_NO_TLSv1 | SSL_OP_NO_TLSv1_1 | SSL_OP_CIPHER_SERVER_PREFERENCE;
    info.tls1_3_plus_cipher_list =
        "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
    info.ssl_cipher_list = "ECDHE+AESGCM+AES128:ECDHE+AESGCM:ECDHE+CHACHA20";  // of TLS 1.2
    // With "h2" a client could end the process: libwebsockets 4.1.6 asserts that nothing comes on a
    // stream that was refused before its body was there. It tells of no GOAWAY either.
    info.alpn = "http/1.1";
  }
  lws_vhost* vhost = lws_create_vhost(impl_->context, &info);
  if (vhost == nullptr) return failed("cannot listen here: is the port taken?");
  return lws_get_vhost_listen_port(vhost);
}

void HttpServer::drain() { impl_->load.draining = true; }

}  // namespace berth
