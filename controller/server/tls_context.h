// SPDX-License-Identifier: Apache-2.0
// TlsContext: what a listener's handshakes go by: TLS 1.2 or later, the certificate that is
// current, whose clients are answered, and which versions of HTTP are offered.
#pragma once

#include <memory>

struct ssl_ctx_st;

namespace berth {

class ClientAuthorities;
class ServingCertificate;

class TlsContext {
 public:
  // Both must outlive it. No authorities: clients show nothing.
  TlsContext(ServingCertificate& certificate, ClientAuthorities* clients);
  TlsContext(const TlsContext&) = delete;
  ~TlsContext();

  ssl_ctx_st* get() const { return context_; }

 private:
  ssl_ctx_st* const context_;
};

}  // namespace berth
