// SPDX-License-Identifier: Apache-2.0
// ClientAuthorities: which clients a TLS listener serves. A client must show a certificate from one
// of these authorities, with the given common name if there is one. The authorities can be replaced
// at run time: each handshake uses the present ones, and open connections stay open.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apis/base/result.h"

struct ssl_ctx_st;
struct x509_store_ctx_st;

namespace berth {

class ClientAuthorities {
 public:
  // An empty name accepts any common name.
  explicit ClientAuthorities(std::string common_name = {});
  ClientAuthorities(const ClientAuthorities&) = delete;
  ~ClientAuthorities();

  // PEM, one or more certificates. If it is unreadable, the old authorities stay.
  Result<void> replace(std::string_view pem);
  bool loaded() const;  // until then every client is refused

  // From now on it checks every handshake of the context. It must outlive the context.
  void demand(ssl_ctx_st* context);

 private:
  struct Trusted;
  static int on_certificate(x509_store_ctx_st* chain, void* self);

  const std::string common_name_;
  std::unique_ptr<const Trusted> trusted_;
};

}  // namespace berth
