// SPDX-License-Identifier: Apache-2.0
// Outline: begin → log_in → launch (build the easy handle) → header and body callbacks →
// transferred → finish.
#include "controller/live/curl_exchange.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "controller/live/http_checks.h"

namespace berth {
namespace {

constexpr long kConnectTimeoutMs = 10'000;
constexpr std::size_t kMaxHeaderBytes = 64u << 10;

void set_blob(CURL* easy, CURLoption option, const std::string& text) {
  if (text.empty()) return;
  curl_blob blob{const_cast<char*>(text.data()), text.size(), CURL_BLOB_COPY};
  curl_easy_setopt(easy, option, &blob);
}

TransportOutcome outcome_of(CURLcode result) {
  switch (result) {
    case CURLE_OK:
      return TransportOutcome::kComplete;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
    case CURLE_URL_MALFORMAT:
    case CURLE_OPERATION_TIMEDOUT:  // curl itself limits only connecting
      return TransportOutcome::kCannotConnect;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
      return TransportOutcome::kTlsFailed;
    default:
      return TransportOutcome::kBroken;
  }
}

}  // namespace

CurlExchange::CurlExchange(Shared& shared, HttpRequest request, std::shared_ptr<ResponseSink> sink)
    : shared_(shared), request_(std::move(request)), sink_(std::move(sink)) {}

CurlExchange::~CurlExchange() {
  curl_slist_free_all(headers_);
  curl_slist_free_all(connect_to_);
  if (easy_ != nullptr) curl_easy_cleanup(easy_);
}

void CurlExchange::begin(std::shared_ptr<CurlLane> lane, std::stop_token stop) {
  lane_ = std::move(lane);
  std::string fault = find_fault(request_);
  if (!fault.empty()) return finish(TransportOutcome::kBroken, std::move(fault));
  if (stop.stop_requested()) return finish(TransportOutcome::kCancelled, "");
  // Any code, even a sink, may request stop, so it is handled in a posted call.
  stop_link_.emplace(std::move(stop), [weak = weak_from_this(), &loop = shared_.loop] {
    loop.post([weak] {
      if (auto self = weak.lock()) self->finish(TransportOutcome::kCancelled, "");
    });
  });
  log_in();
}

// A plugin may have to prompt its user. The deadline is for the server, so it starts when the
// request is sent.
void CurlExchange::log_in() {
  shared_.loop.cancel(deadline_);
  shared_.loop.cancel(idle_);
  shared_.credentials.prepare([weak = weak_from_this()](std::string fault) {
    const auto self = weak.lock();
    if (!self || self->sink_ == nullptr) return;
    if (!fault.empty()) return self->finish(TransportOutcome::kNoCredentials, std::move(fault));
    self->launch();
  });
}

void CurlExchange::launch() {
  started_ = last_heard_ = shared_.loop.now();
  if (request_.deadline.count() > 0) {
    deadline_ = shared_.loop.call_after(request_.deadline, [weak = weak_from_this()] {
      auto self = weak.lock();
      if (!self) return;
      const auto limit = std::to_string(self->request_.deadline.count());
      self->finish(TransportOutcome::kTimeout, "no complete reply within " + limit + " ms");
    });
  }
  if (request_.idle_timeout.count() > 0) check_idle();
  login_ = shared_.credentials.login();
  easy_ = curl_easy_init();
  set_server();
  set_tls();
  set_request();
  curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, curl_says_);
  curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy_, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT_MS, kConnectTimeoutMs);
  // PIPEWAIT: wait whether a connection that is being opened can be shared. With TLS, curl knows
  // this after the handshake (ALPN). Without TLS berth uses HTTP/1.1, which can't be shared. curl
  // would then wait for the end of the connection's first request, and a watch ends only minutes
  // later.
  const bool may_share = shared_.config.server.starts_with("https://");
  curl_easy_setopt(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  curl_easy_setopt(easy_, CURLOPT_PIPEWAIT, may_share ? 1L : 0L);
  curl_easy_setopt(easy_, CURLOPT_TCP_NODELAY, 1L);
  curl_easy_setopt(easy_, CURLOPT_SOCKOPTFUNCTION, &CurlExchange::on_socket_made);
  curl_easy_setopt(easy_, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, &CurlExchange::on_header);
  curl_easy_setopt(easy_, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &CurlExchange::on_body);
  curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
  lane_->add(easy_, [self = shared_from_this()](CURLcode result) { self->transferred(result); });
}

void CurlExchange::set_server() {
  const ClientConfig& config = shared_.config;
  ServerAddress address = split_server(config.server);
  std::string url = config.server;
  if (!config.tls_server_name.empty()) {
    // curl verifies the certificate against the URL's host, so the URL gets the expected name.
    // berth still connects to the server's address, and sends the host that the server knows.
    url = address.scheme + config.tls_server_name + ":" + address.port + address.path;
    const std::string to =
        config.tls_server_name + ":" + address.port + ":" + address.host + ":" + address.port;
    connect_to_ = curl_slist_append(nullptr, to.c_str());
    curl_easy_setopt(easy_, CURLOPT_CONNECT_TO, connect_to_);
  }
  url += request_.target;
  curl_easy_setopt(easy_, CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy_, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "https,http");
  if (is_loopback(address.host) || config.without_proxy) {
    curl_easy_setopt(easy_, CURLOPT_PROXY, "");
  } else if (!config.proxy_url.empty()) {
    curl_easy_setopt(easy_, CURLOPT_PROXY, config.proxy_url.c_str());
    curl_easy_setopt(easy_, CURLOPT_NOPROXY, "");
  }
}

void CurlExchange::set_tls() {
  const ClientConfig& config = shared_.config;
  curl_easy_setopt(easy_, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(easy_, CURLOPT_SSL_VERIFYPEER, config.insecure_skip_tls_verify ? 0L : 1L);
  curl_easy_setopt(easy_, CURLOPT_SSL_VERIFYHOST, config.insecure_skip_tls_verify ? 0L : 2L);
  set_blob(easy_, CURLOPT_CAINFO_BLOB, shared_.credentials.certificate_authority());
  set_blob(easy_, CURLOPT_SSLCERT_BLOB, shared_.credentials.client_certificate());
  set_blob(easy_, CURLOPT_SSLKEY_BLOB, shared_.credentials.client_key());
}

void CurlExchange::set_request() {
  std::vector<HttpHeader> headers = request_.headers;
  for (HttpHeader& header : shared_.credentials.headers()) headers.push_back(std::move(header));
  const ClientConfig& config = shared_.config;
  if (!config.username.empty()) {
    curl_easy_setopt(easy_, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
    curl_easy_setopt(easy_, CURLOPT_USERNAME, config.username.c_str());
    curl_easy_setopt(easy_, CURLOPT_PASSWORD, config.password.c_str());
  }
  if (!config.tls_server_name.empty()) {
    headers.push_back({"Host", split_server(config.server).authority});
  }
  headers.push_back({"Expect", ""});  // curl would else send "100-continue" and wait for the reply
  curl_slist_free_all(std::exchange(headers_, nullptr));
  for (const HttpHeader& header : headers) {
    // A token file may hold any text too.
    if (!is_header_value(header.value)) continue;
    const std::string line = header.name + ":" + (header.value.empty() ? "" : " " + header.value);
    headers_ = curl_slist_append(headers_, line.c_str());
  }
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_);
  if (request_.method == "GET") {
    curl_easy_setopt(easy_, CURLOPT_HTTPGET, 1L);
    return;
  }
  // curl repeats a request if its reused connection died without a reply. A write may then have
  // been applied already. on_seek prevents this: it refuses to rewind a body once it is partly
  // sent.
  body_sent_ = 0;
  curl_easy_setopt(easy_, CURLOPT_POST, 1L);
  curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE,
                   static_cast<curl_off_t>(request_.body.size()));
  curl_easy_setopt(easy_, CURLOPT_READFUNCTION, &CurlExchange::on_read);
  curl_easy_setopt(easy_, CURLOPT_READDATA, this);
  curl_easy_setopt(easy_, CURLOPT_SEEKFUNCTION, &CurlExchange::on_seek);
  curl_easy_setopt(easy_, CURLOPT_SEEKDATA, this);
}

// A vanished peer is detected within 45 s on a silent connection, and within 30 s if it owes an
// acknowledgement. Other clients use pings for this.
int CurlExchange::on_socket_made(void*, curl_socket_t socket, curlsocktype) {
  const auto set = [socket](int level, int option, int value) {
    ::setsockopt(socket, level, option, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);
  return CURL_SOCKOPT_OK;
}

std::size_t CurlExchange::on_read(char* data, std::size_t size, std::size_t count, void* self) {
  auto* exchange = static_cast<CurlExchange*>(self);
  const std::string& body = exchange->request_.body;
  const std::size_t piece = std::min(size * count, body.size() - exchange->body_sent_);
  std::memcpy(data, body.data() + exchange->body_sent_, piece);
  exchange->body_sent_ += piece;
  return piece;
}

int CurlExchange::on_seek(void* self, curl_off_t offset, int origin) {
  const bool untouched = static_cast<CurlExchange*>(self)->body_sent_ == 0;
  return untouched && offset == 0 && origin == SEEK_SET ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

std::size_t CurlExchange::on_header(char* data, std::size_t size, std::size_t count, void* self) {
  auto* exchange = static_cast<CurlExchange*>(self);
  exchange->last_heard_ = exchange->shared_.loop.now();
  exchange->header_bytes_ += size * count;
  if (exchange->header_bytes_ > kMaxHeaderBytes) {
    exchange->too_large_ = true;
    return 0;
  }
  exchange->take_header_line(std::string_view(data, size * count));
  return size * count;
}

void CurlExchange::take_header_line(std::string_view line) {
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  if (head_done_) return;  // trailers
  if (line.empty()) {
    if (status_ >= 200) head_is_complete();
    return;
  }
  if (line.starts_with("HTTP/")) {
    const std::size_t space = std::min(line.find(' '), line.size() - 1);
    std::from_chars(line.data() + space + 1, line.data() + line.size(), status_);
    reply_headers_.clear();
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  reply_headers_.push_back({std::string(line.substr(0, colon)), std::string(value)});
}

void CurlExchange::head_is_complete() {
  head_done_ = true;
  // After 401 the server has done nothing. Try once more if there may be a newer token.
  if (status_ == 401 && !retried_ && shared_.credentials.refresh_token(login_)) {
    retry_with_new_token_ = true;
    return;
  }
  shared_.loop.post([self = shared_from_this(), status = status_, headers = reply_headers_] {
    if (self->sink_) self->sink_->on_head(status, headers);
  });
}

std::size_t CurlExchange::on_body(char* data, std::size_t size, std::size_t count, void* self) {
  auto* exchange = static_cast<CurlExchange*>(self);
  const std::size_t length = size * count;
  exchange->last_heard_ = exchange->shared_.loop.now();
  if (exchange->retry_with_new_token_) return length;
  exchange->body_bytes_ += length;
  const std::size_t limit = exchange->request_.max_body_bytes;
  if (limit > 0 && exchange->body_bytes_ > limit) {
    exchange->too_large_ = true;
    return 0;
  }
  exchange->shared_.loop.post(
      [keep = exchange->shared_from_this(), bytes = std::string(data, length)] {
        if (keep->sink_) keep->sink_->on_bytes(bytes);
      });
  return length;
}

void CurlExchange::transferred(CURLcode result) {
  if (sink_ == nullptr) return;
  if (retry_with_new_token_) {
    retry_with_new_token_ = false;
    retried_ = true;
    head_done_ = false;
    status_ = 0;
    header_bytes_ = 0;
    curl_easy_cleanup(std::exchange(easy_, nullptr));
    curl_slist_free_all(std::exchange(connect_to_, nullptr));
    return log_in();
  }
  if (too_large_) {
    return finish(
        TransportOutcome::kTooLarge,
        header_bytes_ > kMaxHeaderBytes
            ? "the reply's headers are larger than 64 KiB"
            : "the reply is larger than " + std::to_string(request_.max_body_bytes) + " bytes");
  }
  const TransportOutcome outcome = outcome_of(result);
  if (outcome == TransportOutcome::kTlsFailed) shared_.credentials.refresh_certificates();
  finish(outcome, outcome == TransportOutcome::kComplete ? "" : describe_failure(result));
}

// The timer checks for silence when it may have lasted too long, not at every byte.
void CurlExchange::check_idle() {
  const auto silent = shared_.loop.now() - last_heard_;
  if (silent >= request_.idle_timeout) {
    return finish(TransportOutcome::kTimeout,
                  "no byte for " + std::to_string(request_.idle_timeout.count()) + " ms");
  }
  idle_ = shared_.loop.call_after(request_.idle_timeout - silent, [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->check_idle();
  });
}

void CurlExchange::finish(TransportOutcome outcome, std::string detail) {
  if (sink_ == nullptr) return;
  const std::shared_ptr<ResponseSink> sink = sink_;
  const std::shared_ptr<CurlExchange> self = shared_from_this();  // on_finished drops one
  abandon();
  shared_.on_finished(self, outcome);
  sink->on_end(outcome, std::move(detail));
}

void CurlExchange::abandon() {
  sink_.reset();
  stop_link_.reset();
  shared_.loop.cancel(deadline_);
  shared_.loop.cancel(idle_);
  if (easy_ != nullptr) lane_->remove(easy_);
}

std::string CurlExchange::describe_failure(CURLcode result) const {
  std::string out = shared_.config.server + ": ";
  // OpenSSL's messages range from clear to "EVP lib".
  if (outcome_of(result) == TransportOutcome::kTlsFailed) {
    out += "TLS failed (is the certificate authority the right one?): ";
  }
  out += curl_says_[0] != '\0' ? curl_says_ : curl_easy_strerror(result);
  long error_number = 0;
  curl_easy_getinfo(easy_, CURLINFO_OS_ERRNO, &error_number);
  if (result == CURLE_COULDNT_CONNECT && error_number != 0) {
    out.append(" (").append(std::strerror(static_cast<int>(error_number))).append(")");
  }
  return out;
}

}  // namespace berth
