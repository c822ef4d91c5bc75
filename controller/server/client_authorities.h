// SPDX-License-Identifier: Apache-2.0
// ClientAuthorities: whose callers a TLS listener answers. A caller has to show a client's
// certificate that one of these authorities signed, under one common name if a name is asked for.
// They can be exchanged while they serve: a handshake asks those that are current, and connections
// that stand are not touched.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apis/result.h"

struct ssl_ctx_st;
struct x509_store_ctx_st;

namespace berth {

class ClientAuthorities {
 public:
  // No name: any.
  explicit ClientAuthorities(std::string common_name = {});
  ClientAuthorities(const ClientAuthorities&) = delete;
  ~ClientAuthorities();

  // PEM, one certificate or more. What can't be read leaves in force what was.
  Result<void> replace(std::string_view pem);
  bool loaded() const;  // until then nobody is answered

  // From now on every handshake of the context's comes by here. Outlives the context.
  void demand(ssl_ctx_st* context);

 private:
  struct Trusted;
  static int on_certificate(x509_store_ctx_st* chain, void* self);

  const std::string common_name_;
  std::unique_ptr<const Trusted> trusted_;
};

}  // namespace berth
