// SPDX-License-Identifier: Apache-2.0
// Simulation: a store, an API server, the loop of the network and the actors, and the loops of
// added programs. One thing happens at a time, in the order of simulated time. The seed decides all
// random choices: the same seed gives the same bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "controller/sim/server/api_server.h"
#include "controller/sim/world/random.h"
#include "controller/sim/world/store.h"
#include "controller/sim/world/virtual_clock.h"
#include "controller/sim/world/virtual_loop.h"

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

  // A program's loop runs until it is removed. To freeze a program, remove its loop and add it
  // again.
  void add(VirtualLoop& loop);
  void remove(VirtualLoop& loop);

  // Moves time to the next event and runs it. If there is none before `end`, moves time to `end`
  // and returns false.
  bool step(MonotonicTime end);
  void run_for(std::chrono::nanoseconds span);
  // Runs until `done`, checked after each step, but at most for `limit`. False if the limit is
  // reached.
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
