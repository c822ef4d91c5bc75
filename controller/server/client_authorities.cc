// SPDX-License-Identifier: Apache-2.0
#include "controller/server/client_authorities.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <utility>

#include "controller/certificates/openssl_types.h"

namespace berth {
namespace {

// A certificate with two common names has none.
bool bears(const X509* certificate, std::string_view common_name) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, at) >= 0) return false;
  unsigned char* text = nullptr;
  const int length =
      ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
  if (length < 0) return false;
  const std::string found(reinterpret_cast<const char*>(text), static_cast<std::size_t>(length));
  OPENSSL_free(text);
  return found == common_name;
}

}  // namespace

struct ClientAuthorities::Trusted {
  X509Certificates authorities;
};

ClientAuthorities::ClientAuthorities(std::string common_name)
    : common_name_(std::move(common_name)) {}

ClientAuthorities::~ClientAuthorities() = default;

Result<void> ClientAuthorities::replace(std::string_view pem) {
  X509Certificates all(sk_X509_new_null());
  const Bio from = read_from(pem);
  while (X509Certificate one = read_certificate(from.get())) sk_X509_push(all.get(), one.release());
  const bool whole = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (!whole) return invalid_spec("", "has a certificate that can't be read");
  if (sk_X509_num(all.get()) == 0) return invalid_spec("", "holds no PEM certificate");
  trusted_ = std::make_unique<Trusted>(Trusted{std::move(all)});
  return {};
}

bool ClientAuthorities::loaded() const { return trusted_ != nullptr; }

void ClientAuthorities::demand(ssl_ctx_st* context) {
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_cert_verify_callback(context, on_certificate, this);
  // A resumed session would show no certificate.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context, 0);
}

// OpenSSL has prepared `chain` for the check of a client's certificate.
int ClientAuthorities::on_certificate(x509_store_ctx_st* chain, void* self) {
  const auto& me = *static_cast<const ClientAuthorities*>(self);
  X509_STORE_CTX_set_error(chain, X509_V_ERR_APPLICATION_VERIFICATION);
  if (!me.loaded()) return 0;
  X509_STORE_CTX_set0_trusted_stack(chain, me.trusted_->authorities.get());
  // accepts an intermediate authority, too
  X509_STORE_CTX_set_flags(chain, X509_V_FLAG_PARTIAL_CHAIN);
  if (X509_verify_cert(chain) != 1) return 0;
  if (me.common_name_.empty() || bears(X509_STORE_CTX_get0_cert(chain), me.common_name_)) return 1;
  X509_STORE_CTX_set_error(chain, X509_V_ERR_APPLICATION_VERIFICATION);
  return 0;
}

}  // namespace berth
