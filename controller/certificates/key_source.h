// SPDX-License-Identifier: Apache-2.0
// KeySource: the source of keys and serial numbers for certificates. berth uses OpenSSL's
// generator; a simulation uses one that depends only on its seed.
#pragma once

#include <span>

#include "controller/certificates/openssl_types.h"

namespace berth {

class KeySource {
 public:
  virtual ~KeySource() = default;
  // A null key if it fails.
  virtual PrivateKey make_key() = 0;
  // False if it fails.
  virtual bool fill(std::span<unsigned char> bytes) = 0;
};

// P-256 keys and unpredictable bytes.
KeySource& system_keys();

}  // namespace berth
