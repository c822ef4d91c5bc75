// SPDX-License-Identifier: Apache-2.0
// SimulatedKeys: keys and serial numbers of a simulation, equal for equal seeds. The keys are
// Ed25519, because its signatures are deterministic. The certificates are valid ones.
#pragma once

#include "controller/certificates/key_source.h"
#include "controller/sim/world/random.h"

namespace berth {

class SimulatedKeys : public KeySource {
 public:
  explicit SimulatedKeys(sim::Random random) : random_(random) {}
  PrivateKey make_key() override;
  bool fill(std::span<unsigned char> bytes) override;

 private:
  sim::Random random_;
};

}  // namespace berth
