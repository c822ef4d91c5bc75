// SPDX-License-Identifier: Apache-2.0
#include "controller/server/serving_certificate.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <string>

#include "controller/certificates/openssl_types.h"

namespace berth {
namespace {

Error refused(const char* field, std::string why) {
  ERR_clear_error();
  return {.kind = ErrorKind::kInvalid, .message = std::move(why), .where = field};
}

}  // namespace

struct ServingCertificate::Pair {
  X509Certificate leaf;
  X509Certificates issuers;
  PrivateKey key;
};

Result<void> ServingCertificate::replace(std::string_view chain_pem, std::string_view key_pem) {
  auto pair = std::make_shared<Pair>();
  const Bio chain = read_from(chain_pem);
  pair->leaf = read_certificate(chain.get());
  if (pair->leaf == nullptr) return refused("tls.crt", "holds no PEM certificate");
  pair->issuers.reset(sk_X509_new_null());
  while (X509Certificate issuer = read_certificate(chain.get()))
    sk_X509_push(pair->issuers.get(), issuer.release());
  if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
    return refused("tls.crt", "has a certificate after its first that can't be read");
  pair->key = read_key(read_from(key_pem).get());
  if (pair->key == nullptr) return refused("tls.key", "holds no unencrypted PEM private key");
  if (X509_check_private_key(pair->leaf.get(), pair->key.get()) != 1)
    return refused("tls.key", "is not the key of the first certificate in tls.crt");
  ERR_clear_error();
  pair_ = std::move(pair);
  return {};
}

std::optional<Time> ServingCertificate::not_before() const {
  return pair_ != nullptr ? beginning_of(*pair_->leaf) : std::nullopt;
}

std::optional<Time> ServingCertificate::not_after() const {
  return pair_ != nullptr ? end_of(*pair_->leaf) : std::nullopt;
}

void ServingCertificate::serve(ssl_ctx_st* context) {
  SSL_CTX_set_cert_cb(context, on_handshake, this);
}

int ServingCertificate::on_handshake(ssl_st* ssl, void* self) {
  const Pair* pair = static_cast<ServingCertificate*>(self)->pair_.get();
  if (pair == nullptr) return 0;
  return SSL_use_cert_and_key(ssl, pair->leaf.get(), pair->key.get(), pair->issuers.get(), 1);
}

}  // namespace berth
