// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/simulated_keys.h"

#include <array>

namespace berth {

PrivateKey SimulatedKeys::make_key() {
  std::array<unsigned char, 32> seed;
  fill(seed);
  return PrivateKey(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), seed.size()));
}

bool SimulatedKeys::fill(std::span<unsigned char> bytes) {
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random_.next());
  return true;
}

}  // namespace berth
