// SPDX-License-Identifier: Apache-2.0
#include "controller/certificates/key_source.h"

#include <openssl/ec.h>
#include <openssl/rand.h>

namespace berth {
namespace {

class SystemKeys : public KeySource {
 public:
  PrivateKey make_key() override { return PrivateKey(EVP_EC_gen("P-256")); }
  bool fill(std::span<unsigned char> bytes) override {
    return RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1;
  }
};

}  // namespace

KeySource& system_keys() {
  static SystemKeys keys;
  return keys;
}

}  // namespace berth
