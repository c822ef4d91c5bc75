// SPDX-License-Identifier: Apache-2.0
// MigManager: NVIDIA's mig-manager on one node. A new value of the label mig.config is one run:
// assert, pause the GPU's clients, wait for their pods to go, apply, restore. It has the real one's
// habits (reference: NVIDIA/mig-parted v0.15): a wait in vain ends the run without a word, values
// that come during a run are coalesced, and once a run went well, a failed one leaves the labels
// paused.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>

#include "controller/sim/actor_client.h"
#include "controller/sim/gpu_machine.h"
#include "controller/sim/mig_parted.h"

namespace berth::sim {

class MigManager {
 public:
  MigManager(AgentWorld& world, GpuMachine& machine);

  void order(AgentFault fault, int times);
  // The label's value is another one than before. What it does about it, it does in look().
  void on_label(std::string value) { arrived_.push_back(std::move(value)); }
  // Only while the machine runs.
  void look();
  std::optional<MonotonicTime> next_due() const;

 private:
  enum class Step {
    kAssert,       // reads the file, compares with the hardware
    kPause,        // due: says pending, pauses the labels
    kWaitForPods,  // due: the end of its patience
    kApply,        // due: mig-parted is done
  };
  struct Run {
    std::string config;
    AgentFault fault = AgentFault::kNone;
    Step step = Step::kAssert;
    MonotonicTime due{0};
  };

  void start_process(const std::string& process);
  void begin_run();
  void end_run();
  // Each takes one step of the run; false if it has to wait.
  bool take_step();
  bool assert_config();
  bool pause();
  bool wait_for_pods();
  bool apply();

  void fail(bool restore);
  void set_state(const char* state);
  void pause_labels();
  void restore_labels();
  std::optional<std::vector<PartedEntry>> read_config() const;
  AgentFault take_fault();

  AgentWorld& world_;
  GpuMachine& machine_;
  const ActorClient client_;
  const std::chrono::nanoseconds mount_phase_;
  AgentFault ordered_ = AgentFault::kNone;
  int times_ = 0;

  std::deque<std::string> arrived_;  // values its informer has, in order
  // The process: all of it is forgotten with it.
  std::string process_;
  MonotonicTime mounted_at_{0};
  std::string current_, last_read_;
  bool signalled_ = false;  // a value came while it slept
  bool went_well_ = false;  // once
  std::optional<Run> run_;
};

}  // namespace berth::sim
