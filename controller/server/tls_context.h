// SPDX-License-Identifier: Apache-2.0
// TlsContext: the settings of a listener's handshakes: TLS 1.2 or later, the present certificate,
// the accepted clients, and the HTTP versions on offer.
#pragma once

#include <memory>

struct ssl_ctx_st;

namespace berth {

class ClientAuthorities;
class ServingCertificate;

class TlsContext {
 public:
  // Both must outlive it. `clients` null: clients need no certificate.
  TlsContext(ServingCertificate& certificate, ClientAuthorities* clients);
  TlsContext(const TlsContext&) = delete;
  ~TlsContext();

  ssl_ctx_st* get() const { return context_; }

 private:
  ssl_ctx_st* const context_;
};

}  // namespace berth
