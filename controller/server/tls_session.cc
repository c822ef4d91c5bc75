// SPDX-License-Identifier: Apache-2.0
#include "controller/server/tls_session.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "controller/server/tls_context.h"

namespace berth {

// OpenSSL reads and writes through these functions, without a copy in a buffer.
const bio_method_st* TlsSession::carrier() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "session");
    BIO_meth_set_read(made, &TlsSession::read);
    BIO_meth_set_write(made, &TlsSession::write);
    BIO_meth_set_ctrl(made, &TlsSession::control);
    return made;
  }();
  return method;
}

int TlsSession::read(BIO* bio, char* into, int size) {
  auto& me = *static_cast<TlsSession*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (me.came_.empty()) {
    BIO_set_retry_read(bio);
    return -1;
  }
  const std::size_t taken = me.came_.copy(into, static_cast<std::size_t>(size));
  me.came_.remove_prefix(taken);
  return static_cast<int>(taken);
}

int TlsSession::write(BIO* bio, const char* from, int size) {
  static_cast<TlsSession*>(BIO_get_data(bio))
      ->outgoing_.append(from, static_cast<std::size_t>(size));
  return size;
}

long TlsSession::control(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

TlsSession::TlsSession(const TlsContext& context) : ssl_(SSL_new(context.get())) {
  BIO* bio = BIO_new(carrier());
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_, bio, bio);
  SSL_set_accept_state(ssl_);
}

TlsSession::~TlsSession() { SSL_free(ssl_); }

bool TlsSession::take(std::string_view came, char* plain,
                      const std::function<void(std::string_view)>& heard) {
  came_ = came;
  while (true) {
    ERR_clear_error();
    const int size = SSL_read(ssl_, plain, kRecordBytes);
    if (size <= 0) {
      const bool well = SSL_get_error(ssl_, size) == SSL_ERROR_WANT_READ;
      ERR_clear_error();
      return well;
    }
    heard({plain, static_cast<std::size_t>(size)});
  }
}

bool TlsSession::handshaken() const { return SSL_is_init_finished(ssl_) == 1; }

void TlsSession::say(std::string_view text) {
  if (text.empty()) return;
  ERR_clear_error();
  SSL_write(ssl_, text.data(), static_cast<int>(text.size()));  // the carrier accepts all bytes
}

void TlsSession::take_leave() {
  ERR_clear_error();
  SSL_shutdown(ssl_);
}

}  // namespace berth
