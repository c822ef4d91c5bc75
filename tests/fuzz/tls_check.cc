// SPDX-License-Identifier: Apache-2.0
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <memory>

#include "controller/certificates/certificate_maker.h"
#include "controller/certificates/openssl_types.h"
#include "controller/server/serving_certificate.h"
#include "controller/server/tls_context.h"
#include "controller/server/tls_session.h"
#include "tests/fuzz/checks.h"

namespace berth::test {
namespace {

// A listener's objects, created once.
struct Listener {
  ServingCertificate certificate;
  TlsContext context{certificate, nullptr};
  Listener() {
    const Validity years{Time(), Time(std::chrono::hours(24 * 365 * 100))};
    const CertificatePair authority = make_authority("test", years).value();
    const CertificatePair leaf = make_leaf(authority, {"berth.test"}, years).value();
    (void)certificate.replace(leaf.certificate, leaf.key);
  }
};

const Listener& listener() {
  static const Listener listener;
  return listener;
}

SSL_CTX* client_context() {
  static SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  return context;
}

// A client whose bytes pass through this test.
class Client {
 public:
  Client() : ssl_(SSL_new(client_context())) {
    SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(ssl_.get());
  }
  void hear(const std::string& bytes) {
    if (!bytes.empty())
      BIO_write(SSL_get_rbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
    char plain[256];
    ERR_clear_error();
    while (SSL_read(ssl_.get(), plain, sizeof(plain)) > 0) {
    }
    ERR_clear_error();
  }
  bool write(std::string_view text) {
    ERR_clear_error();
    return SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size())) > 0;
  }
  void renew_keys() { SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_REQUESTED); }
  void leave() { SSL_shutdown(ssl_.get()); }
  // The bytes that it has to send now.
  std::string said() {
    char* data = nullptr;
    BIO* out = SSL_get_wbio(ssl_.get());
    const long size = BIO_get_mem_data(out, &data);
    std::string bytes(data, static_cast<std::size_t>(size));
    (void)BIO_reset(out);
    return bytes;
  }

 private:
  std::unique_ptr<SSL, OpensslFree<SSL_free>> ssl_;
};

// A server's session, its input and its output.
class Told {
 public:
  bool tell(std::string_view bytes) {
    const bool well = session_.take(bytes, plain_.data(), [this](std::string_view piece) {
      if (piece.empty() || piece.data() != plain_.data()) wrong = "a piece from elsewhere";
      heard.append(piece);
    });
    if (well && over_) wrong = "a broken session goes on";
    over_ = over_ || !well;
    return well;
  }
  bool tell_in_pieces(std::string_view bytes, std::size_t piece) {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size())))
      if (!tell(bytes.substr(0, piece))) return false;
    return true;
  }
  std::string take_answer() {
    answered += session_.outgoing().size();
    return std::exchange(session_.outgoing(), {});
  }
  bool handshaken() const { return session_.handshaken(); }

  std::string heard;
  std::size_t answered = 0;
  std::string wrong;

 private:
  TlsSession session_{listener().context};
  std::array<char, TlsSession::kRecordBytes> plain_{};
  bool over_ = false;
};

}  // namespace

Verdict check_tls(std::string_view input) {
  Client client;
  Told server;
  // From the client, even after a changed byte: TLS does not protect every byte, for example not
  // the version in a record's header.
  std::string written;
  bool broken = false, alive = true, left = false;
  client.hear({});
  while (input.size() >= 2 && alive && server.wrong.empty()) {
    const int command = input[0] & 7;
    const auto size = static_cast<unsigned char>(input[1]);
    input.remove_prefix(2);
    const std::string_view taken = input.substr(0, size);
    std::string bytes;
    if (command == 0) {  // the next step of the handshake, and waiting data
      bytes = client.said();
    } else if (command <= 2 && !taken.empty()) {
      input.remove_prefix(taken.size());
      if (!left && client.write(taken)) written += taken;
      bytes = client.said();
    } else if (command == 3) {  // bytes that no client sent
      input.remove_prefix(taken.size());
      broken = broken || !taken.empty();
      bytes = taken;
    } else if (command == 4) {  // the client's bytes, one of them changed
      bytes = client.said();
      if (!bytes.empty()) bytes[size % bytes.size()] ^= 0x40, broken = true;
    } else if (command == 5) {
      client.renew_keys();
    } else if (command == 6) {
      client.leave();
      left = true;
      bytes = client.said();
    }
    alive = server.tell_in_pieces(bytes, 1 + size);
    client.hear(server.take_answer());
  }
  if (!server.wrong.empty()) return {.wrong = server.wrong};
  if (!written.starts_with(server.heard)) return {.wrong = "heard what nobody wrote"};
  if (!broken && !left && !alive) return {.wrong = "an honest client is cut off"};
  if (!broken && server.handshaken() && server.heard != written)
    return {.wrong = "not all is heard"};
  if (server.answered > 64u << 10) return {.wrong = "no end of answers"};
  return {.read = server.handshaken()};
}

}  // namespace berth::test
