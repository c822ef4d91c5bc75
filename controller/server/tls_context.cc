// SPDX-License-Identifier: Apache-2.0
#include "controller/server/tls_context.h"

#include <openssl/ssl.h>

#include <string_view>

#include "controller/server/client_authorities.h"
#include "controller/server/serving_certificate.h"

namespace berth {
namespace {

using namespace std::string_view_literals;

// ALPN's format: each name follows its length.
constexpr std::string_view kHttp1 = "\x08http/1.1"sv;

// If the client offers another protocol or none, the server uses HTTP/1.1.
int choose_http(SSL*, const unsigned char** chosen, unsigned char* size,
                const unsigned char* offered, unsigned offered_size, void*) {
  const int found =
      SSL_select_next_proto(const_cast<unsigned char**>(chosen), size,
                            reinterpret_cast<const unsigned char*>(kHttp1.data()),
                            static_cast<unsigned>(kHttp1.size()), offered, offered_size);
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

}  // namespace

TlsContext::TlsContext(ServingCertificate& certificate, ClientAuthorities* clients)
    : context_(SSL_CTX_new(TLS_server_method())) {
  SSL_CTX_set_min_proto_version(context_, TLS1_2_VERSION);
  // The server's order of ciphers counts, the same as in Go's servers.
  SSL_CTX_set_options(context_, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_ciphersuites(
      context_, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256");
  SSL_CTX_set_cipher_list(context_, "ECDHE+AESGCM+AES128:ECDHE+AESGCM:ECDHE+CHACHA20");  // TLS 1.2
  SSL_CTX_set_alpn_select_cb(context_, choose_http, nullptr);
  certificate.serve(context_);
  if (clients != nullptr) clients->demand(context_);
}

TlsContext::~TlsContext() { SSL_CTX_free(context_); }

}  // namespace berth
