// SPDX-License-Identifier: Apache-2.0
// Simulation: a store, an API server, the loop on which the network and the actors live, and the
// loops of the programs that were added. One thing happens at a time, in the order of simulated
// time; the seed decides what the world leaves open. Same seed, same bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "controller/sim/api_server.h"
#include "controller/sim/random.h"
#include "controller/sim/store.h"
#include "controller/sim/virtual_clock.h"
#include "controller/sim/virtual_loop.h"

namespace berth::sim {

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  const VirtualClock& clock() const { return clock_; }
  MonotonicTime now() const { return clock_.now(); }
  Store& store() { return store_; }
  ApiServer& server() { return server_; }
  VirtualLoop& loop() { return loop_; }
  Random fork_random() { return random_.fork(); }

  // A program's loop takes part until it is removed. A frozen one is removed and added again.
  void add(VirtualLoop& loop);
  void remove(VirtualLoop& loop);

  // Moves time to the next thing that is due and lets it happen. False, with time moved to `end`,
  // if nothing is due before.
  bool step(MonotonicTime end);
  void run_for(std::chrono::nanoseconds span);
  // Until `done`, asked after each step, at most `limit`. False if that passes.
  bool run_until(const std::function<bool()>& done, std::chrono::nanoseconds limit);

 private:
  void beat();

  Random random_;
  VirtualClock clock_;
  Store store_;
  ApiServer server_;
  VirtualLoop loop_;
  std::vector<VirtualLoop*> programs_;
};

}  // namespace berth::sim
