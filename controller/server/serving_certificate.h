// SPDX-License-Identifier: Apache-2.0
// ServingCertificate: what a TLS listener shows of itself. It can be exchanged while it serves: a
// handshake takes what is current when it comes to it, and connections that stand are not touched,
// so that no call fails for a rotation.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "apis/result.h"
#include "apis/time.h"

struct ssl_ctx_st;
struct ssl_st;

namespace berth {

class ServingCertificate {
 public:
  // PEM: the leaf, then what leads up to its issuer; and the leaf's key. What is not a pair leaves
  // in force what was.
  Result<void> replace(std::string_view chain_pem, std::string_view key_pem);

  bool loaded() const { return pair_ != nullptr; }
  // When the leaf begins and ends; nothing before one is loaded.
  std::optional<Time> not_before() const;
  std::optional<Time> not_after() const;

  // From now on every handshake of the context's asks here. Outlives the context.
  void serve(ssl_ctx_st* context);

 private:
  struct Pair;
  static int on_handshake(ssl_st* ssl, void* self);

  std::shared_ptr<const Pair> pair_;
};

}  // namespace berth
