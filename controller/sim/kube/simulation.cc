// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/kube/simulation.h"

#include <algorithm>

namespace berth::sim {

using namespace std::chrono_literals;

Simulation::Simulation(std::uint64_t seed)
    : random_(seed), server_(store_, clock_, random_.fork()), loop_(clock_) {
  loop_.call_after(1min, [this] { beat(); });
}

void Simulation::beat() {
  server_.beat();
  loop_.call_after(1min, [this] { beat(); });
}

void Simulation::add(VirtualLoop& loop) { programs_.push_back(&loop); }

void Simulation::remove(VirtualLoop& loop) { std::erase(programs_, &loop); }

bool Simulation::step(MonotonicTime end) {
  VirtualLoop* next = &loop_;
  std::optional<MonotonicTime> due = loop_.next_due();
  for (VirtualLoop* program : programs_) {
    const std::optional<MonotonicTime> its = program->next_due();
    if (!its || (due && *due <= *its)) continue;
    due = its;
    next = program;
  }
  if (!due || *due > end) {
    clock_.move_to(end);
    return false;
  }
  clock_.move_to(*due);
  next->run_ready();
  return true;
}

void Simulation::run_for(std::chrono::nanoseconds span) {
  const MonotonicTime end = now() + span;
  while (step(end)) {
  }
}

bool Simulation::run_until(const std::function<bool()>& done, std::chrono::nanoseconds limit) {
  const MonotonicTime end = now() + limit;
  while (!done())
    if (!step(end)) return done();
  return true;
}

}  // namespace berth::sim
