// SPDX-License-Identifier: Apache-2.0
// KeySource: where the keys and serial numbers of certificates come from. berth asks OpenSSL's
// generator; a simulation has one that gives the same to the same seed.
#pragma once

#include <span>

#include "controller/certificates/openssl_types.h"

namespace berth {

class KeySource {
 public:
  virtual ~KeySource() = default;
  // None if it can't make one.
  virtual PrivateKey make_key() = 0;
  // False if it can't.
  virtual bool fill(std::span<unsigned char> bytes) = 0;
};

// P-256 and bytes that nobody can guess.
KeySource& system_keys();

}  // namespace berth
