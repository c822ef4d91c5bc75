// SPDX-License-Identifier: Apache-2.0
// ServingCertificate: the certificate of a TLS listener. It can be replaced at run time: each
// handshake uses the present one, and open connections stay open, so that a rotation fails no
// request.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "apis/base/result.h"
#include "apis/base/time.h"

struct ssl_ctx_st;
struct ssl_st;

namespace berth {

class ServingCertificate {
 public:
  // PEM: the leaf and its intermediate certificates, and the leaf's key. If they are no pair, the
  // old ones stay in use.
  Result<void> replace(std::string_view chain_pem, std::string_view key_pem);

  bool loaded() const { return pair_ != nullptr; }
  // The leaf's validity; nullopt before one is loaded.
  std::optional<Time> not_before() const;
  std::optional<Time> not_after() const;

  // From now on every handshake of the context uses it. It must outlive the context.
  void serve(ssl_ctx_st* context);

 private:
  struct Pair;
  static int on_handshake(ssl_st* ssl, void* self);

  std::shared_ptr<const Pair> pair_;
};

}  // namespace berth
