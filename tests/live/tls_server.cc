// SPDX-License-Identifier: Apache-2.0
#include "tests/live/tls_server.h"

#include <arpa/inet.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>

namespace berth::test {
namespace {

X509* read_certificate(const std::string& pem) {
  BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  X509* out = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  return out;
}

int choose_http1(SSL*, const unsigned char** out, unsigned char* length, const unsigned char*,
                 unsigned, void*) {
  static const unsigned char kHttp1[] = {'h', 't', 't', 'p', '/', '1', '.', '1'};
  *out = kHttp1;
  *length = sizeof kHttp1;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

TlsServer::TlsServer(Options options, Handler handler)
    : handler_(std::move(handler)),
      plain_(options.plain),
      context_(SSL_CTX_new(TLS_server_method())) {
  X509* certificate = read_certificate(options.certificate);
  SSL_CTX_use_certificate(context_, certificate);
  X509_free(certificate);
  BIO* bio = BIO_new_mem_buf(options.key.data(), static_cast<int>(options.key.size()));
  EVP_PKEY* key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
  SSL_CTX_use_PrivateKey(context_, key);
  EVP_PKEY_free(key);
  BIO_free(bio);
  if (!options.client_ca.empty()) {
    X509* authority = read_certificate(options.client_ca);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_), authority);
    X509_free(authority);
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  if (options.names_http1) SSL_CTX_set_alpn_select_cb(context_, choose_http1, nullptr);
  listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(options.port));
  ::inet_pton(AF_INET, options.address.c_str(), &address.sin_addr);
  socklen_t length = sizeof address;
  ::bind(listener_, reinterpret_cast<sockaddr*>(&address), length);
  ::listen(listener_, 64);
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

TlsServer::~TlsServer() {
  ending_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
  }
  for (std::thread& worker : workers_) worker.join();
  ::close(listener_);
  SSL_CTX_free(context_);
}

void TlsServer::accept_all() {
  while (!ending_) {
    const int fd = ::accept(listener_, nullptr, nullptr);
    if (fd < 0) return;
    ++accepted_;
    const std::lock_guard<std::mutex> lock(mutex_);
    open_.push_back(fd);
    workers_.emplace_back([this, fd] { serve(fd); });
  }
}

void TlsServer::serve(int fd) {
  SSL* ssl = plain_ ? nullptr : SSL_new(context_);
  if (ssl != nullptr) SSL_set_fd(ssl, fd);
  Connection connection(fd, ssl, *this);
  std::string buffer;
  const auto read_more = [&] {
    char bytes[4096];
    const int count = connection.read(bytes, sizeof bytes);
    if (count > 0) buffer.append(bytes, static_cast<std::size_t>(count));
    return count > 0;
  };
  bool open = ssl == nullptr || SSL_accept(ssl) == 1;
  while (open && !ending_) {
    std::size_t end = buffer.find("\r\n\r\n");
    if (end == std::string::npos) {
      open = read_more();
      continue;
    }
    Request request;
    const std::size_t first = buffer.find("\r\n");
    request.line = buffer.substr(0, first);
    std::size_t length = 0;
    for (std::size_t at = first + 2; at < end + 2;) {
      const std::size_t stop = buffer.find("\r\n", at);
      std::string line = buffer.substr(at, stop - at);
      const std::size_t colon = line.find(':');
      std::transform(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(colon), line.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      if (line.starts_with("content-length:")) length = std::strtoul(&line[colon + 1], nullptr, 10);
      request.headers += line + "\n";
      at = stop + 2;
    }
    while (open && buffer.size() < end + 4 + length) open = read_more();
    if (!open) break;
    request.body = buffer.substr(end + 4, length);
    buffer.erase(0, end + 4 + length);
    open = handler_(request, connection);
  }
  if (ssl != nullptr) SSL_shutdown(ssl);
  SSL_free(ssl);
  const std::lock_guard<std::mutex> lock(mutex_);
  open_.remove(fd);
  ::close(fd);
}

bool TlsServer::Connection::send(const std::string& bytes) {
  if (ssl_ != nullptr) return SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())) > 0;
  std::string_view left = bytes;
  while (!left.empty()) {
    const ssize_t sent = ::send(fd_, left.data(), left.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    left.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

int TlsServer::Connection::read(char* bytes, int most) {
  if (ssl_ != nullptr) return SSL_read(ssl_, bytes, most);
  return static_cast<int>(::recv(fd_, bytes, static_cast<std::size_t>(most), 0));
}

void TlsServer::Connection::reply(int status, const std::string& body, const std::string& headers) {
  send("HTTP/1.1 " + std::to_string(status) +
       " X\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body);
}

void TlsServer::Connection::pause(std::chrono::milliseconds span) {
  const auto end = std::chrono::steady_clock::now() + span;
  while (!server_.ending_ && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

std::string TlsServer::Connection::client_name() const {
  X509* certificate = SSL_get_peer_certificate(ssl_);
  if (certificate == nullptr) return {};
  char name[128] = {};
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof name);
  X509_free(certificate);
  return name;
}

}  // namespace berth::test
