// SPDX-License-Identifier: Apache-2.0
// SimulatorSide: a new empty simulated API server for every script.
#pragma once

#include "controller/sim/server/api_server.h"
#include "controller/sim/world/store.h"
#include "controller/sim/world/virtual_clock.h"
#include "tests/truth/side.h"

namespace berth::truth {

class SimulatorSide : public Side {
 public:
  explicit SimulatorSide(std::uint64_t seed) : server_(store_, clock_, sim::Random(seed)) {}
  Answer answer(const Operation& operation, const Request& request) override;

 private:
  Answer watched(const sim::ApiCall& call);

  sim::Store store_;
  sim::VirtualClock clock_;
  sim::ApiServer server_;
};

}  // namespace berth::truth
