// SPDX-License-Identifier: Apache-2.0
// BerthProcess: one replica of `berth controller` inside a simulation: the real core and shell, on
// a loop and a wire of its own. It can be killed between any two things it does, frozen, and
// started anew; like a pod, it comes back when it ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "controller/io/log.h"
#include "controller/runtime/controller_options.h"
#include "controller/sim/simulation.h"
#include "controller/sim/wire.h"

namespace berth {

struct BerthOptions {
  Settings settings;
  const TimeZones* zones = &utc_only();  // outlives the process
  std::chrono::nanoseconds restart_after = std::chrono::seconds(2);
};

class BerthProcess {
 public:
  // `name` is the pod's and the user the API server knows it by: "berth-0".
  BerthProcess(sim::Simulation& simulation, std::string name, BerthOptions options);
  ~BerthProcess();
  BerthProcess(const BerthProcess&) = delete;
  BerthProcess& operator=(const BerthProcess&) = delete;

  void start();
  // SIGKILL. Safe from within anything the process does, its wire's hooks above all: nothing leaves
  // it any more. A new one starts after `restart_after`.
  void kill();
  // SIGTERM: it ends in order, and is not started again.
  void terminate();
  // SIGSTOP and SIGCONT: time goes by without it.
  void freeze();
  void thaw();

  const std::string& name() const { return name_; }
  bool running() const { return life_ != nullptr; }
  bool frozen() const { return frozen_; }
  int starts() const { return starts_; }
  // Of the life that runs; each new life's wire gets `faults`, which outlive it.
  sim::Wire& wire();
  sim::WireFaults faults;
  // A log line of the process, for the transcript; may be empty.
  std::function<void(LogLevel, const std::string& line)> on_log;

 private:
  struct Life;  // from start to end: loop, wire, clients, controller
  void leave();
  static void unwind(Life& life);

  sim::Simulation& simulation_;
  const std::string name_;
  const BerthOptions options_;
  sim::Random random_;
  std::shared_ptr<Life> life_;
  bool frozen_ = false;
  bool wanted_ = false;  // is started again when it ends
  int starts_ = 0;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);  // false once this is gone
};

}  // namespace berth
