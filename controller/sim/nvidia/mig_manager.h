// SPDX-License-Identifier: Apache-2.0
// MigManager: NVIDIA's mig-manager on one node. A new value of the label mig.config starts one run:
// assert, pause the GPU's clients, wait for their pods to go, apply, restore. It behaves like the
// real one (reference: NVIDIA/mig-parted v0.15): a wait that times out ends the run without a
// message; values that arrive during a run are coalesced; and after one successful run, a failed
// run leaves the labels paused.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>

#include "controller/sim/kube/actor_client.h"
#include "controller/sim/nvidia/gpu_machine.h"
#include "controller/sim/nvidia/mig_parted.h"

namespace berth::sim {

class MigManager {
 public:
  MigManager(AgentWorld& world, GpuMachine& machine);

  void order(AgentFault fault, int times);
  // The label has a new value. look() acts on it.
  void on_label(std::string value) { arrived_.push_back(std::move(value)); }
  // Call it only while the machine runs.
  void look();
  std::optional<MonotonicTime> next_due() const;

 private:
  enum class Step {
    kAssert,       // reads the file, compares with the hardware
    kPause,        // when due: sets pending, pauses the labels
    kWaitForPods,  // when due: the wait times out
    kApply,        // when due: mig-parted is done
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
  // Each takes one step of the run; false if it must wait.
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

  std::deque<std::string> arrived_;  // values that its informer has received, in order
  // State of the process, lost when it ends.
  std::string process_;
  MonotonicTime mounted_at_{0};
  std::string current_, last_read_;
  bool signalled_ = false;  // a value arrived while it waited
  bool went_well_ = false;  // a run has succeeded once
  std::optional<Run> run_;
};

}  // namespace berth::sim
